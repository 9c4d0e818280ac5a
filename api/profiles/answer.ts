import type { Profile } from '../../contract/profiles.ts';
import type { ProfileRecord } from '../../store/queries/profiles.ts';

/** A profile as it is answered. */
export function presentProfile(record: ProfileRecord): Profile {
  return {
    id: record.id,
    name: record.name,
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
    last_used_at: record.lastUsedAt?.toISOString() ?? null,
  };
}
