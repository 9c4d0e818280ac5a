import type { ApiKeyRecord } from '../../store/queries/api-keys.ts';
import type { Scope } from '../../store/scope.ts';
import type { ApiDeps } from '../context.ts';

/** Keys that are read at a time, and at most: an organization has tens. */
const BATCH = 500;
const MAX_KEYS = 10_000;

/** Every key in scope, deleted ones too, newest first: for the rare reads that filter or sort by what no index knows. */
export async function allKeys(store: ApiDeps['store'], scope: Scope): Promise<ApiKeyRecord[]> {
  const keys: ApiKeyRecord[] = [];
  while (keys.length < MAX_KEYS) {
    const page = await store.apiKeys.list(scope, { limit: BATCH, offset: keys.length, includeDeleted: true });
    keys.push(...page.rows);
    if (!page.hasMore) break;
  }
  return keys;
}
