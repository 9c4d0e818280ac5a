import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { HoldfastError } from '../../contract/errors.ts';
import { extensionsFolderOf, MAX_EXTENSIONS } from '../chromium/user-data.ts';
import { CdpError } from '../cdp/connection.ts';
import { createSessionFiles } from '../files/session-files.ts';
import { unzipInto } from '../files/unzip.ts';
import type { ReceivedFile } from '../files/write-file.ts';
import type { Session } from '../session/session.ts';
import { judgeManifest, MANIFEST } from '../../contract/extension-manifest.ts';
import { loadedExtensions } from './loaded-extensions.ts';
import { provideTabTargets } from './tab-targets.ts';

/** What one extension may unpack to. */
const UNPACKED = { entries: 10_000, bytes: 256 * 1024 * 1024 };

/** An extension as it was sent. */
interface UploadedExtension {
  name: string;
  archive: ReceivedFile;
}

/**
 * Loads extensions into the running browser; pages get them as they are loaded next. All of them or none: each is unpacked
 * and judged before the first is loaded, and when the browser refuses one, those before it go again. Throws
 * `invalid_request` for what cannot be an extension of a session, `already_exists` for a name that it has.
 */
export async function loadExtensions(session: Session, sent: UploadedExtension[]): Promise<void> {
  const { chromium, space, record } = session;
  if (record.managedAuth) throw new HoldfastError('invalid_request', 'extensions: the session of a login takes none');
  const known = loadedExtensions(chromium);
  assertRoom(known, sent);
  const root = extensionsFolderOf(chromium.userDataDir);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const { work: workFolder, logs: logsFolder } = space.folder;
  const files = createSessionFiles({ root, workFolder, logsFolder, systemFolders: new Set(), owner: null });
  const ids = new Map<string, string>();
  const asking = new Set<string>();
  const numbered = sent.map(({ name, archive }, index) => ({ name, archive, number: String(known.size + index) }));
  try {
    for (const { name, archive, number } of numbered) {
      await unzipInto(files, archive, `/${number}`, UNPACKED);
      if (await replaceManifest(path.join(root, number), name)) asking.add(name);
    }
    for (const { name, number } of numbered) ids.set(name, await load(session, path.join(root, number), name));
    for (const [name, id] of ids) if (asking.has(name)) await provideTabTargets(chromium, id);
    for (const [name, id] of ids) known.set(name, id);
  } catch (error) {
    const undone = [...ids.values()].map((id) => chromium.cdp.send('Extensions.uninstall', { id }));
    await Promise.allSettled(undone);
    await Promise.all(numbered.map(({ number }) => rm(path.join(root, number), { recursive: true, force: true })));
    throw error;
  }
}

function assertRoom(known: ReadonlyMap<string, string>, sent: UploadedExtension[]): void {
  const wanted = sent.map(({ name }) => name);
  const taken = wanted.find((name, index) => known.has(name) || wanted.indexOf(name) !== index);
  if (taken !== undefined) throw new HoldfastError('already_exists', `name: the session has an extension ${taken}`);
  if (known.size + sent.length > MAX_EXTENSIONS) {
    throw new HoldfastError('operation_failed', `A session allows at most ${String(MAX_EXTENSIONS)} extensions`);
  }
}

/**
 * The browser reads what was judged, not what was sent: comments, say, mean something to its reader alone. True when the
 * extension asks for `debugger`.
 */
async function replaceManifest(folder: string, name: string): Promise<boolean> {
  const file = path.join(folder, MANIFEST);
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) {
    throw new HoldfastError('invalid_request', `extensions: ${name} must have ${MANIFEST} at the root of its archive`);
  }
  const judged = judgeManifest(text, `extensions: ${MANIFEST} of ${name}`);
  await writeFile(file, judged.text);
  return judged.asksForDebugger;
}

async function load({ chromium }: Session, folder: string, name: string): Promise<string> {
  try {
    const { id } = await chromium.cdp.send('Extensions.loadUnpacked', { path: folder });
    return id;
  } catch (error) {
    if (!(error instanceof CdpError) || error.reason !== 'refused') throw error;
    // Its reason is the caller's business, where it lies on this machine is not.
    const reason = error.message.replaceAll(folder, name).slice(0, 500);
    throw new HoldfastError('invalid_request', `extensions: the browser rejected ${name}: ${reason}`);
  }
}
