import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { HoldfastError } from '../../contract/errors.ts';
import { AbsolutePath } from '../../contract/processes.ts';
import { discardRest, throwFormError } from '../../http/bodies.ts';
import type { SessionFiles } from '../files/session-files.ts';
import type { ReceivedFile } from '../files/write-file.ts';
import { receiveFile } from '../files/write-file.ts';

/** A form that was received whole: its parts by their names, in their order. */
export interface UploadForm {
  files: { name: string; file: ReceivedFile }[];
  fields: { name: string; value: string }[];
}

/**
 * Receives a whole form before anything is changed: a file may come before the field that says where it belongs, and a bad
 * field must change nothing. What has no place in the end is removed.
 */
export async function withUploadForm(
  request: FastifyRequest,
  files: SessionFiles,
  action: (form: UploadForm) => Promise<void>,
): Promise<void> {
  if (!request.isMultipart()) {
    throw new HoldfastError('unsupported_media_type', 'Send the files as multipart/form-data');
  }
  const form: UploadForm = { files: [], fields: [] };
  try {
    await receiveParts(request, files, form).catch(throwFormError);
    await action(form);
  } finally {
    discardRest(request.raw);
    await Promise.all(form.files.map(({ file }) => file.discard()));
  }
}

/** The path in a field. Throws `invalid_input` naming the field. */
export function pathField(name: string, value: string | undefined): string {
  const parsed = AbsolutePath.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new HoldfastError('invalid_input', `${name}: must be an absolute path`);
}

/**
 * Each file with its path. Clients write the two names as `files[0][file]` and `files[0][dest_path]`, with dots, or with no
 * index at all; then the first file goes with the first path.
 */
export function filesWithPaths(form: UploadForm): { file: ReceivedFile; field: string; path: string }[] {
  return pairsOf(form, 'file', 'dest_path').map(({ file, field, text }) => ({
    file,
    field,
    path: pathField(field, text),
  }));
}

/** Each file with the text that belongs to it, by the names of the two: `list[0][file]` and `list[0][text]`, say. */
export function pairsOf(
  { files, fields }: UploadForm,
  fileMember: string,
  textMember: string,
): { file: ReceivedFile; field: string; text: string | undefined }[] {
  const texts = new Map<string, string[]>();
  for (const { name, value } of fields) {
    const entry = entryOf(name, textMember);
    if (entry !== null) texts.set(entry, [...(texts.get(entry) ?? []), value]);
  }
  if (files.length === 0) throw new HoldfastError('invalid_input', 'files: must not be empty');
  return files.map(({ name, file }) => {
    const entry = entryOf(name, fileMember);
    if (entry === null) throw new HoldfastError('invalid_input', `${name.slice(0, 100)}: unknown field`);
    const end = name.endsWith(']') ? `${fileMember}]` : fileMember;
    const field = `${name.slice(0, -end.length)}${textMember}${name.endsWith(']') ? ']' : ''}`;
    return { file, field, text: texts.get(entry)?.shift() };
  });
}

async function receiveParts(request: FastifyRequest, files: SessionFiles, form: UploadForm): Promise<void> {
  for await (const part of request.parts()) {
    if (part.type === 'field') form.fields.push({ name: part.fieldname, value: String(part.value) });
    else form.files.push({ name: part.fieldname, file: await receivePart(part, files) });
  }
}

async function receivePart(part: MultipartFile, files: SessionFiles): Promise<ReceivedFile> {
  const file = await receiveFile(files, part.file);
  if (!part.file.truncated) return file;
  await file.discard();
  throw new HoldfastError('payload_too_large', 'The file exceeds the size limit of a session');
}

/** What the entry of a list that a field belongs to is called; null when it is not that field. */
function entryOf(name: string, member: string): string | null {
  if (name === member) return '';
  const end = [`[${member}]`, `.${member}`].find((ending) => name.endsWith(ending));
  return end === undefined ? null : name.slice(0, -end.length);
}
