import { sql, type Selectable } from 'kysely';
import { z } from 'zod';
import { newId } from '../../contract/ids.ts';
import { Passkey, type PasskeyName } from '../../contract/passkeys.ts';
import { rejectDuplicate, type Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  affectsRow,
  containsText,
  findByIdOrName,
  ownerColumns,
  readNewest,
  searchText,
  withinScope,
  type Page,
  type PageRequest,
  type ProjectScope,
  type Scope,
} from '../scope.ts';
import type { SealedPlace } from '../vault/seal.ts';
import { parseValues, type Vault } from '../vault/vault.ts';
import { patchOrigins, patchPasskeys, type CredentialPatch } from './credential-patch.ts';
import { withActiveProject } from './projects.ts';

/** A stored credential, without its values. */
export interface CredentialRecord {
  id: string;
  projectId: string;
  name: string;
  domain: string;
  ssoProvider: string | null;
  valueKeys: string[];
  hasTotpSecret: boolean;
  passkeys: PasskeyName[];
  /** Origins of the documents that a person typed the values into, by key (`totp_secret` for the secret). */
  origins: Record<string, string>;
  /** Incremented by every change of a value; tells a login whether the values it tried have been replaced. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

/** The secrets of a credential. Only for activities; never log them or return them from an activity. */
export interface OpenedCredential {
  values: Record<string, string>;
  totpSecret: string | null;
  passkeys: Passkey[];
  version: number;
  domain: string;
  ssoProvider: string | null;
  origins: Record<string, string>;
}

/** Credentials. Values are sealed and write-only. */
export interface CredentialQueries {
  /** Throws `already_exists` if the project has a credential with that name. */
  create(
    scope: ProjectScope,
    input: {
      name: string;
      domain: string;
      values: Record<string, string>;
      totpSecret?: string;
      passkeys?: Passkey[];
      ssoProvider?: string | null;
      origins?: Record<string, string>;
    },
  ): Promise<CredentialRecord>;
  find(scope: Scope, idOrName: string): Promise<CredentialRecord | null>;
  /** Newest first. `query`: a case-insensitive part of the name or domain. */
  list(scope: Scope, filter: PageRequest & { domain?: string; query?: string }): Promise<Page<CredentialRecord>>;
  /** Null if there is none; throws `already_exists` if the new name is taken. */
  patch(scope: Scope, idOrName: string, patch: CredentialPatch): Promise<CredentialRecord | null>;
  remove(scope: Scope, idOrName: string): Promise<boolean>;
  /** Null if it was deleted. */
  open(id: string): Promise<OpenedCredential | null>;
  /** Records signature counts of passkeys, by credential id. Counts only grow, and do not count as a change of the credential. */
  recordSignCounts(id: string, counts: ReadonlyMap<string, number>): Promise<void>;
}

type Row = Selectable<Database['credentials']>;

const NAME_TAKEN = 'name: the project already has a credential with this name; choose another';

function credentialPlace(id: string, column: 'sealed_values' | 'sealed_totp_secret' | 'sealed_passkeys'): SealedPlace {
  return { table: 'credentials', column, rowId: id };
}

/** Queries of credentials. */
export function createCredentialQueries(db: Db, vault: Vault, clock: () => Date): CredentialQueries {
  const inScope = (scope: Scope) => db.selectFrom('credentials').selectAll().where(withinScope(scope, 'credentials'));

  const findRow = (scope: Scope, idOrName: string): Promise<Row | undefined> =>
    findByIdOrName(inScope(scope), idOrName);

  const openValues = async (on: Db, row: Row): Promise<Record<string, string>> =>
    parseValues(
      await vault.openJson(on, row.organization_id, credentialPlace(row.id, 'sealed_values'), row.sealed_values),
    );

  /** Changes a credential under its row's lock, so that concurrent changes all apply. */
  const change = (id: string, patch: CredentialPatch): Promise<Row | undefined> =>
    db.transaction().execute(async (trx) => {
      const row = await trx.selectFrom('credentials').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
      if (row === undefined) return undefined;
      const stored = await openValues(trx, row);
      const removed = new Set(patch.removeValueKeys);
      const values = {
        ...Object.fromEntries(Object.entries(stored).filter(([key]) => !removed.has(key))),
        ...patch.values,
      };
      const totp = patch.totpSecret;
      const storedPasskeys = await openPasskeys(trx, row);
      const passkeys = patchPasskeys(storedPasskeys, patch);
      const secretsChanged =
        totp !== undefined || JSON.stringify([values, passkeys]) !== JSON.stringify([stored, storedPasskeys]);
      const name = patch.name ?? row.name;
      return trx
        .updateTable('credentials')
        .set({
          name,
          search: searchText(name, row.domain),
          sso_provider: patch.ssoProvider === undefined ? row.sso_provider : patch.ssoProvider,
          sealed_values: await vault.sealJson(trx, row.organization_id, credentialPlace(id, 'sealed_values'), values),
          sealed_totp_secret:
            totp === undefined ? row.sealed_totp_secret : await sealTotp(trx, row.organization_id, id, totp),
          ...(await sealedPasskeys(trx, row.organization_id, id, passkeys)),
          value_keys: Object.keys(values),
          value_origins: JSON.stringify(patchOrigins(row.value_origins, patch, Object.keys(values))),
          version: secretsChanged ? row.version + 1 : row.version,
          updated_at: clock(),
        })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst();
    });

  const sealTotp = (on: Db, organizationId: string, id: string, secret: string): Promise<Buffer | null> =>
    secret === ''
      ? Promise.resolve(null)
      : vault.sealJson(on, organizationId, credentialPlace(id, 'sealed_totp_secret'), secret);

  const openPasskeys = async (on: Db, row: Row): Promise<Passkey[]> => {
    const { id, organization_id: organizationId, sealed_passkeys: sealed } = row;
    if (sealed === null) return [];
    return z
      .array(Passkey)
      .parse(await vault.openJson(on, organizationId, credentialPlace(id, 'sealed_passkeys'), sealed));
  };

  const sealedPasskeys = async (on: Db, organizationId: string, id: string, passkeys: Passkey[]) => ({
    sealed_passkeys:
      passkeys.length === 0
        ? null
        : await vault.sealJson(on, organizationId, credentialPlace(id, 'sealed_passkeys'), passkeys),
    passkeys: JSON.stringify(passkeys.map(({ credential_id, rp_id }) => ({ credential_id, rp_id }))),
  });

  return {
    create: async (
      scope,
      { name, domain, values, totpSecret = '', passkeys = [], ssoProvider = null, origins = {} },
    ) => {
      const id = newId('cred');
      const now = clock();
      const insert = withActiveProject(db, scope.projectId, async (trx) =>
        trx
          .insertInto('credentials')
          .values({
            id,
            ...ownerColumns(scope),
            name,
            domain,
            sso_provider: ssoProvider,
            sealed_values: await vault.sealJson(
              trx,
              scope.organizationId,
              credentialPlace(id, 'sealed_values'),
              values,
            ),
            sealed_totp_secret: await sealTotp(trx, scope.organizationId, id, totpSecret),
            ...(await sealedPasskeys(trx, scope.organizationId, id, patchPasskeys([], { passkeys }))),
            value_keys: Object.keys(values),
            value_origins: JSON.stringify(origins),
            version: 1,
            search: searchText(name, domain),
            created_at: now,
            updated_at: now,
          })
          .returningAll()
          .executeTakeFirstOrThrow(),
      );
      return present(await rejectDuplicate(insert, NAME_TAKEN));
    },
    find: async (scope, idOrName) => {
      const row = await findRow(scope, idOrName);
      return row === undefined ? null : present(row);
    },
    list: (scope, { limit, offset, query, ...filter }) =>
      readNewest(
        inScope(scope)
          .where((eb) => eb.and(filter))
          .where(containsText(sql.ref('search'), query)),
        { limit, offset },
        present,
      ),
    patch: async (scope, idOrName, patch) => {
      const found = await findRow(scope, idOrName);
      if (found === undefined) return null;
      const row = await rejectDuplicate(change(found.id, patch), NAME_TAKEN);
      return row === undefined ? null : present(row);
    },
    remove: async (scope, idOrName) => {
      const row = await findRow(scope, idOrName);
      return row !== undefined && affectsRow(db.deleteFrom('credentials').where('id', '=', row.id));
    },
    open: async (id) => {
      const row = await db.selectFrom('credentials').selectAll().where('id', '=', id).executeTakeFirst();
      if (row === undefined) return null;
      const totpPlace = credentialPlace(id, 'sealed_totp_secret');
      return {
        values: await openValues(db, row),
        totpSecret: await vault.openText(db, row.organization_id, totpPlace, row.sealed_totp_secret),
        passkeys: await openPasskeys(db, row),
        version: row.version,
        domain: row.domain,
        ssoProvider: row.sso_provider,
        origins: row.value_origins,
      };
    },
    recordSignCounts: (id, counts) =>
      db.transaction().execute(async (trx) => {
        const row = await trx.selectFrom('credentials').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
        if (row === undefined) return;
        const passkeys = (await openPasskeys(trx, row)).map((passkey) => ({
          ...passkey,
          sign_count: Math.max(passkey.sign_count, counts.get(passkey.credential_id) ?? 0),
        }));
        await trx
          .updateTable('credentials')
          .set(await sealedPasskeys(trx, row.organization_id, id, passkeys))
          .where('id', '=', id)
          .execute();
      }),
  };
}

function present(row: Row): CredentialRecord {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    domain: row.domain,
    ssoProvider: row.sso_provider,
    valueKeys: row.value_keys,
    hasTotpSecret: row.sealed_totp_secret !== null,
    passkeys: row.passkeys,
    origins: row.value_origins,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
