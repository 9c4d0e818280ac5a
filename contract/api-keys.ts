import { z } from 'zod';

const Name = z.string().trim().min(1).max(255);
/** Longest lifetime of a key, in days. */
export const MAX_KEY_DAYS = 3650;
const Days = z.int().min(1).max(MAX_KEY_DAYS);

/** How long a rotated key keeps working by default, in days. */
export const DEFAULT_ROTATION_GRACE_DAYS = 7;

/** Body of `POST /org/api_keys`. Defaults: organization-wide, no expiry. */
export const ApiKeyCreate = z
  .strictObject({
    name: Name,
    days_to_expire: Days.nullable().optional(),
    expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
    project_id: z.string().min(1).max(200).nullable().optional(),
    // Sent by newer clients. A key that may do more than its creator intended would be worse than none.
    policy: z
      .null({
        error: 'per-action keys are not supported here; limit the key by `project_id` and leave `policy` out',
      })
      .optional(),
  })
  .refine(({ days_to_expire: days, expires_at: at }) => (days ?? null) === null || (at ?? null) === null, {
    path: ['expires_at'],
    message: 'give either `expires_at` or `days_to_expire`',
  });

/** Body of `PATCH /org/api_keys/{id}`. */
export const ApiKeyUpdate = z.strictObject({ name: Name });

/** Body of `POST /org/api_keys/{id}/rotate`. `expire_in_days`: how long the rotated key keeps working. */
export const ApiKeyRotate = z
  .strictObject({
    days_to_expire: Days.nullable().optional(),
    expire_in_days: z.int().min(0).max(3650).nullable().optional(),
  })
  .nullish();

/** An API key without its secret (interface.md, "API key"). */
export const ApiKey = z.strictObject({
  id: z.string(),
  name: z.string(),
  created_at: z.string(),
  created_by: z.strictObject({ id: z.string(), email: z.string(), name: z.string().nullable() }),
  expires_at: z.string().nullable(),
  deleted_at: z.string().nullable(),
  project_id: z.string().nullable(),
  project_name: z.string().nullable(),
  masked_key: z.string(),
});
export type ApiKey = z.infer<typeof ApiKey>;

/** Response of create and rotate: the only ones with the key itself. */
export const CreatedApiKey = z.strictObject({ ...ApiKey.shape, key: z.string() });
