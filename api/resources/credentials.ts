import { Secret, TOTP } from 'otpauth';
import { z } from 'zod';
import { normalizeDomain } from '../../contract/addresses.ts';
import { Credential, CredentialCreate, CredentialUpdate, TotpCode } from '../../contract/credentials.ts';
import { HoldfastError } from '../../contract/errors.ts';
import {
  isBareTotpSecret,
  normalizeTotpSecret,
  readTotpSecret,
  type TotpSettings,
} from '../../contract/totp-secret.ts';
import type { CredentialRecord } from '../../store/queries/credentials.ts';
import { IdOrNameParams, NoContent, errorResponses } from '../response-schemas.ts';
import { principalCallerOf, type PrincipalCaller } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import { requireFound } from '../nullish.ts';
import { pageOf, pageQuery, sendPageHeaders, queryFilter } from '../paging.ts';
import type { ApiParts } from '../parts.ts';
import { findByIdOrName, writeScope } from '../scope.ts';

const tags = ['credentials'];
const NOT_FOUND = 'Credential not found; check its id or name, and the project';

/** Registers credentials: sealed values for logins, which no response ever contains. */
export function registerCredentials(app: ApiServer, parts: ApiParts): void {
  createCredential(app, parts);
  listCredentials(app, parts);
  retrieveCredential(app, parts);
  updateCredential(app, parts);
  deleteCredential(app, parts);
  retrieveTotpCode(app, parts);
}

/** `POST /credentials`: seals the values. */
function createCredential(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/credentials',
    schema: {
      operationId: 'createCredential',
      tags,
      body: CredentialCreate,
      response: { 201: Credential, ...errorResponses(409) },
    },
    handler: async (request, reply) => {
      const { name, domain, values, passkeys, sso_provider: ssoProvider } = request.body;
      const totpSecret = totpSecretOf(request.body);
      const scope = await writeScope(store, principalCallerOf(request).scope);
      const record = await store.credentials.create(scope, {
        name,
        domain,
        values,
        ...omitUndefined({ totpSecret, passkeys, ssoProvider }),
      });
      return reply.code(201).send(presentCredential(record, 'single'));
    },
  });
}

const Query = z.object({
  domain: z.string().max(260).optional(),
  query: queryFilter(260).describe('Part of the name or of the domain, in any case'),
  ...pageQuery,
});

/** `GET /credentials`: newest first, a bare array with paging headers. */
function listCredentials(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/credentials',
    schema: { operationId: 'listCredentials', tags, querystring: Query, response: { 200: z.array(Credential) } },
    handler: async (request, reply) => {
      const { domain, query } = request.query;
      const filter = omitUndefined({
        domain: domain === undefined ? undefined : (normalizeDomain(domain) ?? domain),
        query,
      });
      const paging = pageOf(request.query);
      const page = await store.credentials.list(principalCallerOf(request).scope, { ...paging, ...filter });
      return sendPageHeaders(reply, paging, page).map((record) => presentCredential(record, 'list'));
    },
  });
}

/** `GET /credentials/{id or name}`: includes the names of its values. */
function retrieveCredential(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/credentials/:id_or_name',
    schema: { operationId: 'retrieveCredential', tags, params: IdOrNameParams, response: { 200: Credential } },
    handler: async (request) => {
      const { record } = await find(store, principalCallerOf(request), request.params.id_or_name);
      return presentCredential(record, 'single');
    },
  });
}

/**
 * `PATCH /credentials/{id or name}`: applies `remove_value_keys`, then merges `values`. Connections refer to a credential by name,
 * so those that use it are renamed with it, and notified of new values.
 */
function updateCredential(app: ApiServer, { store, connections, views }: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: '/credentials/:id_or_name',
    config: { needsConfirmation: true },
    schema: {
      operationId: 'updateCredential',
      tags,
      params: IdOrNameParams,
      body: CredentialUpdate,
      response: { 200: Credential, ...errorResponses(409) },
    },
    handler: async (request) => {
      const { record: current, project } = await find(store, principalCallerOf(request), request.params.id_or_name);
      const { name, values, passkeys } = request.body;
      const { remove_value_keys: removeValueKeys, remove_passkeys: removePasskeys } = request.body;
      const totpSecret = totpSecretOf(request.body, await currentTotpSettings(store, current, request.body));
      const ssoProvider = request.body.sso_provider === '' ? null : request.body.sso_provider;
      const patch = omitUndefined({ name, values, removeValueKeys, totpSecret, passkeys, removePasskeys, ssoProvider });
      const changed = requireFound(await store.credentials.patch(project, current.id, patch), NOT_FOUND);
      const isRenamed = changed.name !== current.name;
      if (isRenamed || changed.version !== current.version || changed.ssoProvider !== current.ssoProvider) {
        const users = await store.connections.usingCredential(project, current.name);
        await Promise.all(
          users.map(({ id }) =>
            unlessDeleted(async () => {
              const accepted = isRenamed
                ? await connections.configure(id, { credential: { name: changed.name } })
                : await connections.credentialChanged(id);
              // The next read of the connection must show the new `can_reauth`.
              await views.waitUntilRecorded(accepted);
            }),
          ),
        );
      }
      return presentCredential(changed, 'single');
    },
  });
}

/** `DELETE /credentials/{id or name}`: unlinks it from its connections first, so that a partial failure can be retried. */
function deleteCredential(app: ApiServer, { store, connections }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/credentials/:id_or_name',
    schema: { operationId: 'deleteCredential', tags, params: IdOrNameParams, response: { 204: NoContent } },
    handler: async (request, reply) => {
      const { record, project } = await find(store, principalCallerOf(request), request.params.id_or_name);
      for (const { id } of await store.connections.usingCredential(project, record.name)) {
        await unlessDeleted(() => connections.configure(id, { credential: null }));
      }
      requireFound(await store.credentials.remove(project, record.id), NOT_FOUND);
      return reply.code(204).send();
    },
  });
}

function find(store: ApiParts['store'], { scope }: PrincipalCaller, idOrName: string) {
  return findByIdOrName(store, scope, (within) => store.credentials.find(within, idOrName), NOT_FOUND);
}

/** Runs an update of a connection; ignores a connection that was deleted concurrently. */
async function unlessDeleted(update: () => Promise<unknown>): Promise<void> {
  try {
    await update();
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'not_found') throw error;
  }
}

/** `GET /credentials/{id or name}/totp-code`: the current code; 404 without a secret. */
function retrieveTotpCode(app: ApiServer, { store, clock }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/credentials/:id_or_name/totp-code',
    config: { returnsSecret: true, needsConfirmation: true },
    schema: { operationId: 'credentialTotpCode', tags, params: IdOrNameParams, response: { 200: TotpCode } },
    handler: async (request) => {
      const { record } = await find(store, principalCallerOf(request), request.params.id_or_name);
      const secret = (await store.credentials.open(record.id))?.totpSecret ?? null;
      if (secret === null) {
        throw new HoldfastError('not_found', 'This credential has no TOTP secret; set `totp_secret` first');
      }
      const now = clock().getTime();
      const parameters = readTotpSecret(secret);
      if (parameters === null)
        throw new HoldfastError('not_found', 'The TOTP secret cannot be read; set `totp_secret` again');
      const totp = new TOTP({ ...parameters, secret: Secret.fromBase32(parameters.secret) });
      const periodMs = parameters.period * 1000;
      return {
        code: totp.generate({ timestamp: now }),
        expires_at: new Date((Math.floor(now / periodMs) + 1) * periodMs).toISOString(),
      };
    },
  });
}

/** Period, digits and algorithm of the current secret, which a bare new secret inherits. */
async function currentTotpSettings(
  store: ApiParts['store'],
  { id, hasTotpSecret }: CredentialRecord,
  { totp_secret: text = '' }: CredentialUpdate,
): Promise<TotpSettings> {
  if (text === '' || !hasTotpSecret || !isBareTotpSecret(text)) return {};
  const current = readTotpSecret((await store.credentials.open(id))?.totpSecret ?? '');
  return current === null ? {} : { period: current.period, digits: current.digits, algorithm: current.algorithm };
}

/** The normalized secret of a body, with `defaults` for missing settings; empty to remove it, undefined to leave it unchanged. */
function totpSecretOf(body: CredentialCreate | CredentialUpdate, defaults: TotpSettings = {}): string | undefined {
  const { totp_secret: text, totp_algorithm: algorithm, totp_digits: digits, totp_period: period } = body;
  if (text === undefined || text === '') return text;
  return normalizeTotpSecret(text, { ...defaults, ...omitUndefined({ algorithm, digits, period }) }) ?? undefined;
}

/** The public representation: never a value. Lists omit the names of values. */
function presentCredential(record: CredentialRecord, detail: 'single' | 'list'): Credential {
  return {
    id: record.id,
    name: record.name,
    domain: record.domain,
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
    has_values: record.valueKeys.length > 0,
    has_totp_secret: record.hasTotpSecret,
    has_passkeys: record.passkeys.length > 0,
    sso_provider: record.ssoProvider,
    ...(detail === 'single' ? { value_keys: record.valueKeys, passkeys: record.passkeys } : {}),
  };
}
