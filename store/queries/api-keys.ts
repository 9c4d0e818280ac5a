import type { Page, PageRequest, Scope } from "../scope.ts";

/** An API key without the key: what lists and reads show (interface.md, "API key"). */
export interface ApiKeyRecord {
  id: string;
  organizationId: string;
  name: string;
  createdAt: Date;
  createdBy: { id: string; email: string; name: string | null };
  expiresAt: Date | null;
  deletedAt: Date | null;
  /** Null: organization-wide. */
  projectId: string | null;
  projectName: string | null;
  maskedKey: string;
}

/** API keys. Only a hash is stored; the key itself is in the answer of `create` and `rotate` alone. */
export interface ApiKeyQueries {
  /**
   * The live key that `token` is, or null (unknown, mistyped, revoked, expired). A key of our own form is tested by its
   * checksum before the database is asked. Never cached: a revoked key is refused on the next request.
   */
  authenticate(token: string): Promise<ApiKeyRecord | null>;
  create(
    scope: Scope,
    input: {
      name: string;
      expiresAt: Date | null;
      projectId: string | null;
      createdBy: ApiKeyRecord["createdBy"];
    },
  ): Promise<{ record: ApiKeyRecord; key: string }>;
  list(
    scope: Scope,
    page: PageRequest & { includeDeleted?: boolean },
  ): Promise<Page<ApiKeyRecord>>;
  find(scope: Scope, id: string): Promise<ApiKeyRecord | null>;
  rename(scope: Scope, id: string, name: string): Promise<ApiKeyRecord | null>;
  /** Revokes. False when there is no such live key. */
  remove(scope: Scope, id: string): Promise<boolean>;
  /** Replaces the secret under the same id; the old key stops working at once. Null when there is no such live key. */
  rotate(
    scope: Scope,
    id: string,
  ): Promise<{ record: ApiKeyRecord; key: string } | null>;
}
