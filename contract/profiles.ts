import { z } from 'zod';

/** `.` and `..` cannot stand in a URL's path, which is where a name is used. */
const Name = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .refine((name) => name !== '.' && name !== '..', 'must not be `.` or `..`');

/** Body of `POST /profiles`; may be absent. */
export const ProfileCreate = z.strictObject({ name: Name.optional() }).nullish();

/** Body of `PATCH /profiles/{id or name}`. */
export const ProfileUpdate = z.strictObject({ name: Name });

/** A profile as it is answered. Its state (cookies and storage) never is. */
export const Profile = z.strictObject({
  id: z.string(),
  name: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
  last_used_at: z.string().nullable(),
});
export type Profile = z.infer<typeof Profile>;

/** A profile as it is answered, of what is known of it. */
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
