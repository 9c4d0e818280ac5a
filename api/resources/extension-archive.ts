import type { FastifyRequest } from 'fastify';
import { text } from 'node:stream/consumers';
import { fromBufferPromise, type ZipFile } from 'yauzl';
import { HoldfastError, invalidField } from '../../contract/errors.ts';
import { MANIFEST, sanitizeManifest } from '../../contract/extensions.ts';
import { ResourceName } from '../../contract/resource-name.ts';
import { discardRest, throwFormError } from '../../http/bodies.ts';

/** Maximum size of a manifest, in bytes. */
const MAX_MANIFEST_BYTES = 1024 * 1024;
/** Prefix of a packed extension (`.crx`): magic, version, length of the signed header. */
const CRX_MAGIC = 'Cr24';
const CRX_VERSION = 3;
const CRX_PREFIX_BYTES = 12;

/** A validated upload. */
export interface ExtensionUpload {
  name: string | null;
  /** A ZIP archive with a manifest that sessions accept. */
  archive: Buffer;
}

/**
 * Parses an upload form: `file`, a ZIP archive or a packed extension (`.crx`), and optionally `name`. Throws `invalid_input` naming
 * the field.
 */
export async function parseExtensionForm(request: FastifyRequest): Promise<ExtensionUpload> {
  if (!request.isMultipart()) {
    throw new HoldfastError('unsupported_media_type', 'Send the extension as multipart/form-data, in the field `file`');
  }
  try {
    const { name, file } = await receiveParts(request).catch(throwFormError);
    if (file === null) throw invalidField('file', 'required');
    const archive = stripCrxHeader(file);
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

/** The ZIP archive after the signed header of a packed extension, version 3 (Chromium's `crx_file/crx3.proto`). */
function stripCrxHeader(file: Buffer): Buffer {
  if (file.toString('latin1', 0, CRX_MAGIC.length) !== CRX_MAGIC) return file;
  if (file.length < CRX_PREFIX_BYTES || file.readUInt32LE(4) !== CRX_VERSION) {
    throw invalidField('file', `must be a ZIP archive or a packed extension of version ${CRX_VERSION}`);
  }
  return file.subarray(CRX_PREFIX_BYTES + file.readUInt32LE(8));
}

/** Rejects an archive that no session could load. */
async function checkArchive(archive: Buffer): Promise<void> {
  try {
    const zip = await fromBufferPromise(archive, { lazyEntries: true });
    try {
      sanitizeManifest(await readManifest(zip), `file: ${MANIFEST}`);
    } finally {
      zip.close();
    }
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    throw invalidField('file', 'is not a valid ZIP archive');
  }
}

async function readManifest(zip: ZipFile): Promise<string> {
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName !== MANIFEST) continue;
    if (entry.uncompressedSize > MAX_MANIFEST_BYTES) throw invalidField('file', `${MANIFEST} is too large`);
    return text(await zip.openReadStreamPromise(entry));
  }
  throw invalidField('file', `must have ${MANIFEST} at the root of its archive`);
}
