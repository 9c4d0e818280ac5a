import { Readable } from 'node:stream';
import type { BrowserCreate } from '../../contract/browsers.ts';
import { invalidField } from '../../contract/errors.ts';
import { receiveFile } from '../files/write-file.ts';
import type { Session } from '../session/session.ts';
import { loadExtensions } from './load-extensions.ts';

/** Stored extensions, for use in sessions. */
export interface ExtensionStore {
  /** Returns the ZIP archive of a project's extension and records its use; null if it does not exist. */
  use(projectId: string, ref: { id: string } | { name: string }): Promise<StoredExtension | null>;
}

interface StoredExtension {
  id: string;
  archive: Buffer;
}

/** Finds the extensions that a session starts with. Throws `invalid_input`, with its index, for one that does not exist. */
export async function resolveExtensions(
  store: ExtensionStore,
  projectId: string,
  refs: NonNullable<BrowserCreate['extensions']>,
): Promise<StoredExtension[]> {
  const found: StoredExtension[] = [];
  for (const [index, { id, name }] of refs.entries()) {
    const field = `extensions[${index}]`;
    const ref = id === undefined ? (name === undefined ? null : { name }) : { id };
    if (ref === null) throw invalidField(field, 'send its `id` or its `name`');
    const kept = await store.use(projectId, ref);
    if (kept === null) throw invalidField(field, 'not found; list /extensions for the available ones', 'not_found');
    if (found.some((other) => other.id === kept.id))
      throw invalidField(field, 'is a duplicate; list each extension once');
    found.push(kept);
  }
  return found;
}

/** Loads stored extensions into a new browser, each under its id. All or none. */
export async function loadStoredExtensions(session: Session, kept: readonly StoredExtension[]): Promise<void> {
  if (kept.length === 0) return;
  const { files } = session.workspace;
  const received = [];
  try {
    for (const { id, archive } of kept) {
      received.push({ name: id, archive: await receiveFile(files, Readable.from([archive])) });
    }
    await loadExtensions(session, received);
  } finally {
    await Promise.all(received.map(({ archive }) => archive.discard()));
  }
}
