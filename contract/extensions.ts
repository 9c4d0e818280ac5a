import { z } from 'zod';

/** Largest archive of one extension, in bytes: kept, or loaded into a running session. */
export const MAX_EXTENSION_BYTES = 64 * 1024 * 1024;

/** An extension that is kept, as it is answered; `checksum` is the SHA-256 of its ZIP archive, in hex. */
export const Extension = z.strictObject({
  id: z.string(),
  name: z.string().nullable(),
  size_bytes: z.int(),
  checksum: z.string(),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
});
export type Extension = z.infer<typeof Extension>;
