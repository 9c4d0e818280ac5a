import type { Selectable } from 'kysely';
import type { CredentialProviderType } from '../../contract/credential-providers.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import { isUniqueViolation, type Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { findByIdOrName, matchesSearch, readPage, searchText, type Page, type PageRequest } from '../scope.ts';
import type { SealedPlace } from '../vault/seal.ts';
import type { Vault } from '../vault/vault.ts';

/** Where an external secret store is, and how it is used. */
export interface CredentialProviderSettings {
  name: string;
  address: string | null;
  mount: string | null;
  namespace: string | null;
  region: string | null;
  cacheTtlSeconds: number;
}

/** An external credential provider without its token. */
export interface CredentialProviderRecord extends CredentialProviderSettings {
  id: string;
  type: CredentialProviderType;
  enabled: boolean;
  priority: number;
  createdAt: Date;
  updatedAt: Date;
}

/** Changes of a provider; what is left out stays. */
export type CredentialProviderPatch = Partial<
  CredentialProviderSettings & { token: string; enabled: boolean; priority: number }
>;

/** External credential providers of an organization: tokens are sealed and write-only. */
export interface CredentialProviderQueries {
  /** Throws `already_exists` when the organization has a provider of that name. */
  create(
    organizationId: string,
    input: CredentialProviderSettings & { type: CredentialProviderType; token: string },
  ): Promise<CredentialProviderRecord>;
  find(organizationId: string, id: string): Promise<CredentialProviderRecord | null>;
  /** First those that are asked first. `query`: a part of the name in any case, or the whole id. */
  list(organizationId: string, filter: PageRequest & { query?: string }): Promise<Page<CredentialProviderRecord>>;
  /** Null when there is none; throws `already_exists` when a new name is taken. */
  patch(organizationId: string, id: string, patch: CredentialProviderPatch): Promise<CredentialProviderRecord | null>;
  /** Destroys the token with the row. False when there was none. */
  remove(organizationId: string, id: string): Promise<boolean>;
  /** The provider of that id or name with its token. For who connects to it alone; never log, never answer. */
  open(organizationId: string, idOrName: string): Promise<(CredentialProviderRecord & { token: string }) | null>;
}

type Row = Selectable<Database['credential_providers']>;

/** Where a provider's token lives. */
export function providerTokenPlace(id: string): SealedPlace {
  return { table: 'credential_providers', column: 'sealed_token', rowId: id };
}

/** Queries of external credential providers. */
export function createCredentialProviderQueries(db: Db, vault: Vault, clock: () => Date): CredentialProviderQueries {
  const inOrganization = (organizationId: string) =>
    db.selectFrom('credential_providers').selectAll().where('organization_id', '=', organizationId);
  const seal = (organizationId: string, id: string, token: string) =>
    vault.sealJson(db, organizationId, providerTokenPlace(id), token);

  return {
    create: async (organizationId, { token, type, cacheTtlSeconds, ...input }) => {
      const id = newId('cpv');
      const row = await nameTaken(
        db
          .insertInto('credential_providers')
          .values({
            id,
            organization_id: organizationId,
            provider_type: type,
            ...input,
            sealed_token: await seal(organizationId, id, token),
            cache_ttl_seconds: cacheTtlSeconds,
            enabled: true,
            priority: 0,
            search: searchText(input.name),
            created_at: clock(),
            updated_at: clock(),
          })
          .returningAll()
          .executeTakeFirstOrThrow(),
      );
      return present(row);
    },
    find: async (organizationId, id) => {
      const row = await inOrganization(organizationId).where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : present(row);
    },
    list: (organizationId, { query, ...page }) => {
      const ordered = inOrganization(organizationId)
        .$if(query !== undefined, (q) => q.where(matchesSearch(query ?? '')))
        .orderBy('priority')
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc');
      return readPage(ordered, page, present);
    },
    patch: async (organizationId, id, { token, cacheTtlSeconds, ...patch }) => {
      const row = await nameTaken(
        db
          .updateTable('credential_providers')
          .where('organization_id', '=', organizationId)
          .where('id', '=', id)
          .set({
            ...patch,
            ...(patch.name === undefined ? {} : { search: searchText(patch.name) }),
            ...(cacheTtlSeconds === undefined ? {} : { cache_ttl_seconds: cacheTtlSeconds }),
            ...(token === undefined ? {} : { sealed_token: await seal(organizationId, id, token) }),
            updated_at: clock(),
          })
          .returningAll()
          .executeTakeFirst(),
      );
      return row === undefined ? null : present(row);
    },
    remove: async (organizationId, id) => {
      const { numDeletedRows } = await db
        .deleteFrom('credential_providers')
        .where('organization_id', '=', organizationId)
        .where('id', '=', id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
    open: async (organizationId, idOrName) => {
      const row = await findByIdOrName(inOrganization(organizationId), idOrName);
      if (row === undefined) return null;
      const token = await vault.openJson(db, organizationId, providerTokenPlace(row.id), row.sealed_token);
      return typeof token === 'string' ? { ...present(row), token } : null;
    },
  };
}

async function nameTaken<Result>(write: Promise<Result>): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new HoldfastError('already_exists', 'A credential provider of that name exists; choose another name');
  }
}

function present(row: Row): CredentialProviderRecord {
  return {
    id: row.id,
    type: row.provider_type,
    name: row.name,
    address: row.address,
    mount: row.mount,
    namespace: row.namespace,
    region: row.region,
    cacheTtlSeconds: row.cache_ttl_seconds,
    enabled: row.enabled,
    priority: row.priority,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
