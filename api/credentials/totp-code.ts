import { Secret, TOTP } from 'otpauth';
import { TotpCode } from '../../contract/credentials.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { IdOrNameParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { findNear } from '../near-project.ts';
import type { ApiParts } from '../parts.ts';

/** How long a code is good for, in seconds (RFC 6238's default, which sites use). */
const PERIOD_S = 30;

/** `GET /credentials/{id or name}/totp-code`: the code of this moment; 404 without a secret. */
export function registerTotpCode(app: ApiServer, { store, clock }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/credentials/:id_or_name/totp-code',
    config: { answersSecret: true },
    schema: {
      operationId: 'credentialTotpCode',
      tags: ['credentials'],
      params: IdOrNameParams,
      response: { 200: TotpCode, ...refusals(401, 404) },
    },
    handler: async (request) => {
      const { id_or_name: wanted } = request.params;
      const { id } = await findNear(store, keyCallerOf(request).scope, 'credential', (scope) =>
        store.credentials.find(scope, wanted),
      );
      const secret = (await store.credentials.open(id))?.totpSecret ?? null;
      if (secret === null) throw new HoldfastError('not_found', 'this credential has no TOTP secret');
      const now = clock().getTime();
      const totp = new TOTP({ secret: Secret.fromBase32(secret), period: PERIOD_S, digits: 6, algorithm: 'SHA1' });
      const periodMs = PERIOD_S * 1000;
      return {
        code: totp.generate({ timestamp: now }),
        expires_at: new Date((Math.floor(now / periodMs) + 1) * periodMs).toISOString(),
      };
    },
  });
}
