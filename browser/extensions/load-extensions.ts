import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { HoldfastError } from '../../contract/errors.ts';
import { extensionsFolderOf, MAX_EXTENSIONS } from '../chromium/user-data.ts';
import { CdpError } from '../cdp/connection.ts';
import { createSessionFiles } from '../files/session-files.ts';
import { unzipInto } from '../files/unzip.ts';
import type { ReceivedFile } from '../files/write-file.ts';
import type { Session } from '../session/session.ts';
import { MANIFEST, sanitizeManifest } from '../../contract/extensions.ts';
import { loadedExtensions } from './loaded-extensions.ts';
import { provideTabTargets } from './tab-targets.ts';

/** Limits on what an extension extracts to. */
const UNPACKED = { entries: 10_000, bytes: 256 * 1024 * 1024 };

interface UploadedExtension {
  name: string;
  archive: ReceivedFile;
}

/**
 * Loads extensions into a running browser; they apply to pages loaded from then on. All or none: each is extracted and validated
 * before the first is loaded, and if the browser rejects one, the others are uninstalled. Throws `invalid_request` for an
 * unsuitable extension, `already_exists` for a name in use.
 */
export async function loadExtensions(session: Session, sent: UploadedExtension[]): Promise<void> {
  const { chromium, workspace, record } = session;
  if (record.managedAuth)
    throw new HoldfastError('invalid_request', 'extensions: not allowed in the session of a login');
  const known = loadedExtensions(chromium);
  assertLoadable(known, sent);
  const root = extensionsFolderOf(chromium.userDataDir);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const { work: workFolder, logs: logsFolder } = workspace.folder;
  const files = createSessionFiles({ root, workFolder, logsFolder, systemFolders: new Set(), owner: null });
  const ids = new Map<string, string>();
  const needTabTargets = new Set<string>();
  const numbered = sent.map(({ name, archive }, index) => ({ name, archive, number: String(known.size + index) }));
  try {
    for (const { name, archive, number } of numbered) {
      await unzipInto(files, archive, `/${number}`, UNPACKED);
      if (await replaceManifest(path.join(root, number), name)) needTabTargets.add(name);
    }
    for (const { name, number } of numbered) ids.set(name, await load(session, path.join(root, number), name));
    for (const [name, id] of ids) if (needTabTargets.has(name)) await provideTabTargets(chromium, id);
    for (const [name, id] of ids) known.set(name, id);
  } catch (error) {
    const undone = [...ids.values()].map((id) => chromium.cdp.send('Extensions.uninstall', { id }));
    await Promise.allSettled(undone);
    await Promise.all(numbered.map(({ number }) => rm(path.join(root, number), { recursive: true, force: true })));
    throw error;
  }
}

function assertLoadable(known: ReadonlyMap<string, string>, sent: UploadedExtension[]): void {
  const wanted = sent.map(({ name }) => name);
  const taken = wanted.find((name, index) => known.has(name) || wanted.indexOf(name) !== index);
  if (taken !== undefined)
    throw new HoldfastError('already_exists', `name: the session already has an extension ${taken}; choose another`);
  if (known.size + sent.length > MAX_EXTENSIONS) {
    throw new HoldfastError('operation_failed', `A session allows at most ${String(MAX_EXTENSIONS)} extensions`);
  }
}

/**
 * Replaces the manifest by its validated form, because the browser's parser may read the original differently (comments, for
 * instance). True if the extension requests `debugger`.
 */
async function replaceManifest(folder: string, name: string): Promise<boolean> {
  const file = path.join(folder, MANIFEST);
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) {
    throw new HoldfastError('invalid_request', `extensions: ${name} must have ${MANIFEST} at the root of its archive`);
  }
  const validated = sanitizeManifest(text, `extensions: ${MANIFEST} of ${name}`);
  await writeFile(file, validated.text);
  return validated.asksForDebugger;
}

async function load({ chromium }: Session, folder: string, name: string): Promise<string> {
  try {
    const { id } = await chromium.cdp.send('Extensions.loadUnpacked', { path: folder });
    return id;
  } catch (error) {
    if (!(error instanceof CdpError) || error.reason !== 'refused') throw error;
    // The browser's reason without the path on this machine.
    const reason = error.message.replaceAll(folder, name).slice(0, 500);
    throw new HoldfastError('invalid_request', `extensions: the browser rejected ${name}: ${reason}`);
  }
}
