import type { ApiKey } from '../../contract/api-keys.ts';
import type { ApiKeyRecord } from '../../store/queries/api-keys.ts';

const DAY_MS = 86_400_000;

/** An API key as it is answered, without the key. */
export function presentApiKey(record: ApiKeyRecord): ApiKey {
  return {
    id: record.id,
    name: record.name,
    created_at: record.createdAt.toISOString(),
    created_by: record.createdBy,
    expires_at: record.expiresAt?.toISOString() ?? null,
    deleted_at: record.deletedAt?.toISOString() ?? null,
    project_id: record.projectId,
    project_name: record.projectName,
    masked_key: record.maskedKey,
  };
}

/** The end of a lifetime in days; null for a key that never ends. */
export function inDays(now: Date, days: number | null): Date | null {
  return days === null ? null : new Date(now.getTime() + days * DAY_MS);
}
