import { sql, type Selectable } from 'kysely';
import { z } from 'zod';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import { Passkey, type PasskeyName } from '../../contract/passkeys.ts';
import { isUniqueViolation, type Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  containsText,
  findByIdOrName,
  readPage,
  searchText,
  withinScope,
  type Page,
  type PageRequest,
  type ProjectScope,
  type Scope,
} from '../scope.ts';
import type { SealedPlace } from '../vault/seal.ts';
import { asValues, type Vault } from '../vault/vault.ts';
import { originsAfter, passkeysAfter, type CredentialPatch } from './credential-patch.ts';
import { whileActive } from './projects.ts';

/** A stored credential without its values. */
export interface CredentialRecord {
  id: string;
  projectId: string;
  name: string;
  domain: string;
  ssoProvider: string | null;
  valueKeys: string[];
  hasTotpSecret: boolean;
  passkeys: PasskeyName[];
  /** Origins of the documents that a person typed values into, by key (`totp_secret` for the secret). */
  origins: Record<string, string>;
  /** Grows with every change of a value; tells a login whether what it tried has been replaced. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

/** The secrets of a credential. For activities alone; never log, never return from an activity. */
export interface OpenedCredential {
  values: Record<string, string>;
  totpSecret: string | null;
  passkeys: Passkey[];
  version: number;
  domain: string;
  ssoProvider: string | null;
  origins: Record<string, string>;
}

/** Credentials: values are sealed and write-only. */
export interface CredentialQueries {
  /** Throws `already_exists` when the project has a credential of that name. */
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
  /** Newest first. `query`: case-insensitive part of the name or of the domain. */
  list(scope: Scope, filter: PageRequest & { domain?: string; query?: string }): Promise<Page<CredentialRecord>>;
  /** Null when there is none; throws `already_exists` when a new name is taken. */
  patch(scope: Scope, idOrName: string, patch: CredentialPatch): Promise<CredentialRecord | null>;
  remove(scope: Scope, idOrName: string): Promise<boolean>;
  /** Null when it is gone. */
  open(id: string): Promise<OpenedCredential | null>;
  /** Notes how often passkeys have signed, by credential id. A count only grows; it is no change of the credential. */
  noteSignCounts(id: string, counts: ReadonlyMap<string, number>): Promise<void>;
}

type Row = Selectable<Database['credentials']>;

/** Where a credential's values, its TOTP secret and its passkeys live. */
export function credentialPlace(
  id: string,
  column: 'sealed_values' | 'sealed_totp_secret' | 'sealed_passkeys',
): SealedPlace {
  return { table: 'credentials', column, rowId: id };
}

/** Queries of credentials. */
export function createCredentialQueries(db: Db, vault: Vault, clock: () => Date): CredentialQueries {
  const inScope = (scope: Scope) => db.selectFrom('credentials').selectAll().where(withinScope(scope, 'credentials'));

  const findRow = (scope: Scope, idOrName: string): Promise<Row | undefined> =>
    findByIdOrName(inScope(scope), idOrName);

  const openValues = async (on: Db, row: Row): Promise<Record<string, string>> =>
    asValues(
      await vault.openJson(on, row.organization_id, credentialPlace(row.id, 'sealed_values'), row.sealed_values),
    );

  /** Changes a credential under its row's lock, so that two changes at once both count. */
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
      const passkeys = passkeysAfter(storedPasskeys, patch);
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
          value_origins: JSON.stringify(originsAfter(row.value_origins, patch, Object.keys(values))),
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

  const byId = (id: string) => db.selectFrom('credentials').selectAll().where('id', '=', id).executeTakeFirst();

  return {
    create: async (
      scope,
      { name, domain, values, totpSecret = '', passkeys = [], ssoProvider = null, origins = {} },
    ) => {
      const id = newId('cred');
      const now = clock();
      const row = await whileActive(db, scope.projectId, async (trx) =>
        trx
          .insertInto('credentials')
          .values({
            id,
            organization_id: scope.organizationId,
            project_id: scope.projectId,
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
            ...(await sealedPasskeys(trx, scope.organizationId, id, passkeysAfter([], { passkeys }))),
            value_keys: Object.keys(values),
            value_origins: JSON.stringify(origins),
            version: 1,
            search: searchText(name, domain),
            created_at: now,
            updated_at: now,
          })
          .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
          .returningAll()
          .executeTakeFirst(),
      );
      if (row === undefined) throw nameTaken();
      return present(row);
    },
    find: async (scope, idOrName) => {
      const row = await findRow(scope, idOrName);
      return row === undefined ? null : present(row);
    },
    list: (scope, { domain, query, ...page }) => {
      const ordered = inScope(scope)
        .$if(domain !== undefined, (q) => q.where('domain', '=', domain ?? ''))
        .$if(query !== undefined, (q) => q.where(containsText(sql.ref('search'), query ?? '')))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc');
      return readPage(ordered, page, present);
    },
    patch: async (scope, idOrName, patch) => {
      const found = await findRow(scope, idOrName);
      if (found === undefined) return null;
      try {
        const row = await change(found.id, patch);
        return row === undefined ? null : present(row);
      } catch (error) {
        throw isUniqueViolation(error) ? nameTaken() : error;
      }
    },
    remove: async (scope, idOrName) => {
      const row = await findRow(scope, idOrName);
      if (row === undefined) return false;
      const { numDeletedRows } = await db.deleteFrom('credentials').where('id', '=', row.id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
    open: async (id) => {
      const row = await byId(id);
      if (row === undefined) return null;
      const totp =
        row.sealed_totp_secret === null
          ? null
          : await vault.openJson(
              db,
              row.organization_id,
              credentialPlace(id, 'sealed_totp_secret'),
              row.sealed_totp_secret,
            );
      return {
        values: await openValues(db, row),
        totpSecret: typeof totp === 'string' ? totp : null,
        passkeys: await openPasskeys(db, row),
        version: row.version,
        domain: row.domain,
        ssoProvider: row.sso_provider,
        origins: row.value_origins,
      };
    },
    noteSignCounts: (id, counts) =>
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

function nameTaken(): HoldfastError {
  return new HoldfastError('already_exists', 'The project has a credential of that `name`; choose another name');
}
