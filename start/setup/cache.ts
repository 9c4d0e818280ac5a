import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Folder where downloaded and built tools are kept, shared by all checkouts of one user. */
export function cacheRoot(env: NodeJS.ProcessEnv = process.env): string {
  const base = env.XDG_CACHE_HOME;
  return join(base !== undefined && base !== '' ? base : join(homedir(), '.cache'), 'holdfast');
}

/**
 * Makes `<cache>/<name>` by filling a folder beside it and renaming that: the final name either does not exist or is
 * whole. Of two at once, the first rename wins and the other uses its result. Returns the final path.
 */
export async function installAtomically(
  name: string,
  fill: (folder: string) => Promise<void>,
  root = cacheRoot(),
): Promise<string> {
  const target = join(root, name);
  await mkdir(root, { recursive: true });
  const work = await mkdtemp(join(root, `.${name}-`));
  try {
    await fill(work);
    try {
      await rename(work, target);
    } catch (error) {
      // Renaming onto a folder that has something in it fails: another process was faster, and its result is as good.
      if (!(await exists(target))) throw error;
    }
    return target;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}
