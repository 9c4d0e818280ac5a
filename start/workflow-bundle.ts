import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { lastLine, run } from './setup/command.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** What the bundle is made from: our code in it, and the versions of everything else. */
const SOURCES = ['workflows', 'contract', 'workers', 'package-lock.json'];
/** A finished bundle; a draft of another worker has a longer name. */
const FINISHED = /^workflows-[0-9a-f]{16}\.js$/;

/**
 * The workflow code as one script, kept in `folder` by the hash of its sources. Bundling takes seconds and hundreds of
 * megabytes, so a process of its own does it, and a worker that starts again after a crash does not pay for it.
 */
export async function loadWorkflowBundle(folder: string): Promise<WorkflowBundleWithSourceMap> {
  const file = join(folder, `workflows-${await hashSources()}.js`);
  const present = await readFile(file, 'utf8').catch(() => undefined);
  const code = present ?? (await makeBundle(folder, file));
  return { code, sourceMap: '' };
}

async function makeBundle(folder: string, file: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const draft = `${file}.${randomBytes(4).toString('hex')}`;
  const script = join(root, 'start', 'bundle-workflows.ts');
  const made = await run(process.execPath, ['--import', 'tsx', script, draft], { cwd: root });
  if (!made.ok) throw new Error(`The workflow code could not be bundled: ${lastLine(made.output)}`);
  // Whole or not at all; of two workers that start at once, both make the same.
  await rename(draft, file);
  for (const name of await readdir(folder)) {
    if (FINISHED.test(name) && join(folder, name) !== file) await rm(join(folder, name), { force: true });
  }
  return readFile(file, 'utf8');
}

async function hashSources(): Promise<string> {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    for (const file of await filesBelow(join(root, source))) {
      hash
        .update(relative(root, file))
        .update('\0')
        .update(await readFile(file))
        .update('\0');
    }
  }
  return hash.digest('hex').slice(0, 16);
}

async function filesBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (!entries) return [path];
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
