import type { FastifyRequest } from 'fastify';
import { text } from 'node:stream/consumers';
import { fromBufferPromise, type ZipFile } from 'yauzl';
import { HoldfastError, invalidField } from '../contract/errors.ts';
import { judgeManifest, MANIFEST } from '../contract/extension-manifest.ts';
import { ResourceName } from '../contract/resource-name.ts';
import { discardRest, throwFormError } from '../http/bodies.ts';

/** Largest manifest that is read, in bytes. */
const MAX_MANIFEST_BYTES = 1024 * 1024;
/** What a packed extension of the Chrome Web Store begins with, and the bytes before its header: mark, version, length. */
const PACKED_MARK = 'Cr24';
const PACKED_VERSION = 3;
const PACKED_PREFIX_BYTES = 12;

/** An extension as it was uploaded, checked. */
export interface ExtensionUpload {
  name: string | null;
  /** A ZIP archive with a manifest that sessions accept. */
  archive: Buffer;
}

/**
 * Receives the form of an upload: `file`, a ZIP archive or a packed extension of the Chrome Web Store (`.crx`), and maybe
 * `name`. Throws errors that name the field.
 */
export async function receiveExtension(request: FastifyRequest): Promise<ExtensionUpload> {
  if (!request.isMultipart()) {
    throw new HoldfastError('unsupported_media_type', 'Send the extension as multipart/form-data, in the field `file`');
  }
  try {
    const { name, file } = await receiveParts(request).catch(throwFormError);
    if (file === null) throw invalidField('file', 'required');
    const archive = withoutPackedHeader(file);
    await checkArchive(archive);
    return { name, archive };
  } finally {
    discardRest(request.raw);
  }
}

async function receiveParts(request: FastifyRequest): Promise<{ name: string | null; file: Buffer | null }> {
  let name: string | null = null;
  let file: Buffer | null = null;
  for await (const part of request.parts()) {
    if (part.type === 'file' && part.fieldname === 'file') file = await part.toBuffer();
    else if (part.type === 'field' && part.fieldname === 'name') name = nameOf(part.value);
    else throw invalidField(part.fieldname.slice(0, 100), 'unknown field; send `file` and `name`');
  }
  return { name, file };
}

function nameOf(value: unknown): string | null {
  if (value === '') return null;
  const name = ResourceName.safeParse(value);
  if (name.success) return name.data;
  throw invalidField('name', name.error.issues[0]?.message ?? 'is invalid');
}

/** The ZIP archive behind the signed header of a packed extension, version 3 (Chromium's `crx_file/crx3.proto`). */
function withoutPackedHeader(file: Buffer): Buffer {
  if (file.toString('latin1', 0, PACKED_MARK.length) !== PACKED_MARK) return file;
  if (file.length < PACKED_PREFIX_BYTES || file.readUInt32LE(4) !== PACKED_VERSION) {
    throw invalidField('file', `must be a ZIP archive or a packed extension of version ${PACKED_VERSION}`);
  }
  return file.subarray(PACKED_PREFIX_BYTES + file.readUInt32LE(8));
}

/** What no session could load is refused before it is kept. */
async function checkArchive(archive: Buffer): Promise<void> {
  try {
    const zip = await fromBufferPromise(archive, { lazyEntries: true });
    try {
      judgeManifest(await manifestOf(zip), `file: ${MANIFEST}`);
    } finally {
      zip.close();
    }
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    throw invalidField('file', 'is not a valid ZIP archive');
  }
}

async function manifestOf(zip: ZipFile): Promise<string> {
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName !== MANIFEST) continue;
    if (entry.uncompressedSize > MAX_MANIFEST_BYTES) throw invalidField('file', `${MANIFEST} is too large`);
    return text(await zip.openReadStreamPromise(entry));
  }
  throw invalidField('file', `must have ${MANIFEST} at the root of its archive`);
}
