import type { errors as ProviderErrors, Adapter, AdapterPayload } from 'oidc-provider';
import { CLIENT_SECONDS } from '../../contract/oauth.ts';
import type { ApiDeps } from '../context.ts';

/** Stores nothing: people are identified by their console session only, and asked every time. */
const nothing = (): Promise<undefined> => Promise.resolve(undefined);
const NO_STORAGE: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUid: nothing,
  findByUserCode: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
};

/** Storage of the provider, shared by all processes; one adapter per model. */
export function createAdapters(
  { store, clock }: Pick<ApiDeps, 'store' | 'clock'>,
  errors: typeof ProviderErrors,
): (model: string) => Adapter {
  const { oauthRecords: records, oauthGrants: grants } = store;
  const inSeconds = (seconds: number): Date => new Date(clock().getTime() + seconds * 1000);

  return (model) => {
    if (model === 'Session') return NO_STORAGE;
    return {
      ...NO_STORAGE,
      upsert: async (id, payload, expiresIn = CLIENT_SECONDS) => {
        // The id of a code or token is the secret itself.
        const { jti: _jti, ...rest } = payload;
        const grantId = payload.grantId ?? (model === 'Grant' ? id : null);
        await records.save(model, id, { payload: rest, grantId, expiresAt: inSeconds(expiresIn) });
        if (model === 'Grant' && payload.clientId !== undefined)
          await records.extend('Client', payload.clientId, inSeconds(CLIENT_SECONDS));
      },
      find: async (id): Promise<AdapterPayload | undefined> => {
        const record = await records.find(model, id);
        if (record === null) return undefined;
        // Our own grant records what was allowed; without it, the provider's record is void.
        if (model === 'Grant' && (await grants.find(id)) === null) return undefined;
        if (model === 'Client') return record.payload;
        const { consumedAt, payload } = record;
        return {
          ...payload,
          jti: id,
          ...(consumedAt !== null && { consumed: Math.floor(consumedAt.getTime() / 1000) }),
        };
      },
      consume: async (id) => {
        if (await records.consume(model, id)) return;
        const { payload } = (await records.find(model, id)) ?? {};
        if (typeof payload?.['grantId'] === 'string') await records.removeGrant(payload['grantId']);
        throw new errors.InvalidGrant('already used');
      },
      destroy: async (id) => (model === 'Grant' ? records.removeGrant(id) : records.remove(model, id)),
      revokeByGrantId: (grantId) => records.removeGrant(grantId),
    };
  };
}
