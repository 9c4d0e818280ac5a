import { z } from 'zod';
import { AbsolutePath } from './processes.ts';

/** Query of the operations on one path. */
export const FilePathQuery = z.strictObject({ path: AbsolutePath });

/** Permission bits, in octal. */
export const FileMode = z.string().regex(/^0?[0-7]{3}$/, 'must be three octal digits, such as 644');

/** One entry of a folder. `mode` is written as `ls -l` does; `size_bytes` is 0 for folders. */
export const FileInfo = z.object({
  name: z.string(),
  path: z.string(),
  is_dir: z.boolean(),
  size_bytes: z.number(),
  mode: z.string(),
  mod_time: z.iso.datetime(),
});
export type FileInfo = z.infer<typeof FileInfo>;
