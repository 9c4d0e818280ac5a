import { z } from 'zod';
import { AbsolutePath } from './processes.ts';

/** Query of the operations on one path. */
export const FilePathQuery = z.strictObject({ path: AbsolutePath });

/** Permission bits, in octal. */
export const FileMode = z.string().regex(/^0?[0-7]{3}$/, 'must be three octal digits, such as 644');

/** One entry of a folder. `mode` is formatted as by `ls -l`; `size_bytes` is 0 for folders. */
export const FileInfo = z.object({
  name: z.string(),
  path: z.string(),
  is_dir: z.boolean(),
  size_bytes: z.number(),
  mode: z.string(),
  mod_time: z.iso.datetime(),
});
export type FileInfo = z.infer<typeof FileInfo>;

/** Body of `create_directory`. */
export const CreateDirectory = z.strictObject({ path: AbsolutePath, mode: FileMode.optional() });

/** Body of `delete_file` and `delete_directory`. */
export const DeletePath = z.strictObject({ path: AbsolutePath });

/** Body of `watch`: a folder; with `recursive` its subfolders too. */
export const WatchFolder = z.strictObject({ path: AbsolutePath, recursive: z.boolean().optional() });

/** Answer of `watch`. */
export const FileWatch = z.object({ watch_id: z.string() });

/** One change in a watched folder. `RENAME` has the old name; `CREATE` the new one. */
export const FileEvent = z.object({
  type: z.enum(['CREATE', 'WRITE', 'DELETE', 'RENAME']),
  path: z.string(),
  name: z.string(),
  /** Absent if it was gone before it could be inspected. */
  is_dir: z.boolean().optional(),
});
export type FileEvent = z.infer<typeof FileEvent>;

/** Body of `move`. */
export const MovePath = z.strictObject({ src_path: AbsolutePath, dest_path: AbsolutePath });

/** Body of `set_file_permissions`. `owner` and `group` may only name the owner of the session's files. */
export const SetFilePermissions = z.strictObject({
  path: AbsolutePath,
  mode: FileMode,
  owner: z.string().min(1).max(255).optional(),
  group: z.string().min(1).max(255).optional(),
});
export type SetFilePermissions = z.infer<typeof SetFilePermissions>;

/** Query of `write_file`; the body is the content. */
export const WriteFileQuery = z.strictObject({ path: AbsolutePath, mode: FileMode.optional() });
