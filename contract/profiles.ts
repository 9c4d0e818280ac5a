import { z } from 'zod';
import { ResourceName } from './resource-name.ts';

/** Body of `POST /profiles`; may be absent. */
export const ProfileCreate = z.strictObject({ name: ResourceName.optional() }).nullish();

/** Body of `PATCH /profiles/{id or name}`. */
export const ProfileUpdate = z.strictObject({ name: ResourceName });

/** A profile. Its state (cookies and storage) is downloaded separately. */
export const Profile = z.strictObject({
  id: z.string(),
  name: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  last_used_at: z.string().nullable(),
});
export type Profile = z.infer<typeof Profile>;

/** The public form of a profile. */
export function presentProfile(record: {
  id: string;
  name: string | null;
  createdAt: Date;
  updatedAt: Date;
  lastUsedAt: Date | null;
}): Profile {
  return {
    id: record.id,
    name: record.name,
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
    last_used_at: record.lastUsedAt?.toISOString() ?? null,
  };
}
