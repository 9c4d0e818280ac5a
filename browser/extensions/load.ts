import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { HoldfastError } from '../../contract/errors.ts';
import { CdpError } from '../cdp/connection.ts';
import { createSessionFiles } from '../files/session-files.ts';
import { unzipInto } from '../files/unzip.ts';
import type { ReceivedFile } from '../files/write-file.ts';
import type { Session } from '../session/session.ts';
import { judgeManifest, MANIFEST } from '../../contract/extension-manifest.ts';

/** Extensions that one session has at most. */
const MAX_EXTENSIONS = 10;
/** What one extension may unpack to. */
const UNPACKED = { entries: 10_000, bytes: 256 * 1024 * 1024 };
/** Folder beside the browser's own. The session's processes and files operations do not reach it: what was judged stays. */
const FOLDER_NAME = 'Unpacked';

/** An extension as it was sent. */
export interface UploadedExtension {
  name: string;
  archive: ReceivedFile;
}

/** Names of the extensions that browsers have; one of a pool keeps them from session to session. */
const loaded = new WeakMap<Session['chromium'], Set<string>>();

/**
 * Loads extensions into the running browser; pages get them as they are loaded next. All of them or none: each is unpacked
 * and judged before the first is loaded, and when the browser refuses one, those before it go again. Throws
 * `invalid_request` for what cannot be an extension of a session, `already_exists` for a name that it has.
 */
export async function loadExtensions(session: Session, sent: UploadedExtension[]): Promise<void> {
  const names = loaded.get(session.chromium) ?? new Set<string>();
  loaded.set(session.chromium, names);
  assertRoom(names, sent);
  const { chromium, space } = session;
  const root = path.join(chromium.userDataDir, FOLDER_NAME);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const { work: workFolder, logs: logsFolder } = space.folder;
  const files = createSessionFiles({ root, workFolder, logsFolder, systemFolders: new Set(), owner: null });
  const ids: string[] = [];
  try {
    for (const { name, archive } of sent) {
      await unzipInto(files, archive, `/${name}`, UNPACKED);
      await replaceManifest(path.join(root, name), name);
    }
    for (const { name } of sent) ids.push(await load(session, path.join(root, name), name));
    for (const { name } of sent) names.add(name);
  } catch (error) {
    await Promise.allSettled(ids.map((id) => chromium.cdp.send('Extensions.uninstall', { id })));
    await Promise.all(sent.map(({ name }) => rm(path.join(root, name), { recursive: true, force: true })));
    throw error;
  }
}

function assertRoom(names: ReadonlySet<string>, sent: UploadedExtension[]): void {
  const wanted = sent.map(({ name }) => name);
  const taken = wanted.find((name, index) => names.has(name) || wanted.indexOf(name) !== index);
  if (taken !== undefined) throw new HoldfastError('already_exists', `name: the session has an extension ${taken}`);
  if (names.size + sent.length > MAX_EXTENSIONS) {
    throw new HoldfastError('operation_failed', `A session allows at most ${String(MAX_EXTENSIONS)} extensions`);
  }
}

/** The browser reads what was judged, not what was sent: comments, say, mean something to its reader alone. */
async function replaceManifest(folder: string, name: string): Promise<void> {
  const file = path.join(folder, MANIFEST);
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) {
    throw new HoldfastError('invalid_request', `extensions: ${name} must have ${MANIFEST} at the root of its archive`);
  }
  await writeFile(file, judgeManifest(text, `extensions: ${MANIFEST} of ${name}`));
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
