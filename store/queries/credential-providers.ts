import type { Selectable } from 'kysely';
import type { CredentialProviderType } from '../../contract/credential-providers.ts';
import { newId } from '../../contract/ids.ts';
import { rejectDuplicate, type Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  affectsRow,
  findByIdOrName,
  findOne,
  matchesSearch,
  readPage,
  searchText,
  type Page,
  type PageRequest,
} from '../scope.ts';
import type { SealedPlace } from '../vault/seal.ts';
import type { Vault } from '../vault/vault.ts';

/** Where an external secret store is, and how to use it. */
interface CredentialProviderSettings {
  name: string;
  address: string | null;
  mount: string | null;
  namespace: string | null;
  region: string | null;
  cacheTtlSeconds: number;
}

/** An external credential provider, without its token. */
export interface CredentialProviderRecord extends CredentialProviderSettings {
  id: string;
  type: CredentialProviderType;
  enabled: boolean;
  priority: number;
  createdAt: Date;
  updatedAt: Date;
}

/** Changes to a provider; omitted fields stay as they are. */
type CredentialProviderPatch = Partial<
  CredentialProviderSettings & { token: string; enabled: boolean; priority: number }
>;

/** External credential providers of an organization. Tokens are sealed and write-only. */
export interface CredentialProviderQueries {
  /** Throws `already_exists` if the organization has a provider with that name. */
  create(
    organizationId: string,
    input: CredentialProviderSettings & { type: CredentialProviderType; token: string },
  ): Promise<CredentialProviderRecord>;
  find(organizationId: string, id: string): Promise<CredentialProviderRecord | null>;
  /** In the order in which they are asked. `query`: a case-insensitive part of the name, or the whole id. */
  list(organizationId: string, filter: PageRequest & { query?: string }): Promise<Page<CredentialProviderRecord>>;
  /** Null if there is none; throws `already_exists` if the new name is taken. */
  patch(organizationId: string, id: string, patch: CredentialProviderPatch): Promise<CredentialProviderRecord | null>;
  /** Destroys the token with the row. False if there was none. */
  remove(organizationId: string, id: string): Promise<boolean>;
  /** The provider with that id or name, and its token. Only for code that connects to it; never log it or return it. */
  open(organizationId: string, idOrName: string): Promise<(CredentialProviderRecord & { token: string }) | null>;
}

type Row = Selectable<Database['credential_providers']>;

const NAME_TAKEN = 'name: the organization already has a credential provider with this name; choose another';

function tokenPlace(id: string): SealedPlace {
  return { table: 'credential_providers', column: 'sealed_token', rowId: id };
}

/** Queries of external credential providers. */
export function createCredentialProviderQueries(db: Db, vault: Vault, clock: () => Date): CredentialProviderQueries {
  const inOrganization = (organizationId: string) =>
    db.selectFrom('credential_providers').selectAll().where('organization_id', '=', organizationId);
  const seal = (organizationId: string, id: string, token: string) =>
    vault.sealJson(db, organizationId, tokenPlace(id), token);

  return {
    create: async (organizationId, { token, type, cacheTtlSeconds, ...input }) => {
      const id = newId('cpv');
      const row = await rejectDuplicate(
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
        NAME_TAKEN,
      );
      return present(row);
    },
    find: (organizationId, id) => findOne(inOrganization(organizationId).where('id', '=', id), present),
    list: (organizationId, { query, ...page }) => {
      const ordered = inOrganization(organizationId)
        .where(matchesSearch(query))
        .orderBy('priority')
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc');
      return readPage(ordered, page, present);
    },
    patch: async (organizationId, id, { token, cacheTtlSeconds, ...patch }) => {
      const update = db
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
        .returningAll();
      return rejectDuplicate(findOne(update, present), NAME_TAKEN);
    },
    remove: (organizationId, id) =>
      affectsRow(
        db.deleteFrom('credential_providers').where('organization_id', '=', organizationId).where('id', '=', id),
      ),
    open: async (organizationId, idOrName) => {
      const row = await findByIdOrName(inOrganization(organizationId), idOrName);
      if (row === undefined) return null;
      const token = await vault.openText(db, organizationId, tokenPlace(row.id), row.sealed_token);
      return token === null ? null : { ...present(row), token };
    },
  };
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
