import type { MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { HoldfastError } from '../../contract/errors.ts';
import { AbsolutePath } from '../../contract/processes.ts';
import { discardRest, throwFormError } from '../../http/bodies.ts';
import type { SessionFiles } from '../files/session-files.ts';
import type { ReceivedFile } from '../files/write-file.ts';
import { receiveFile } from '../files/write-file.ts';

/** A completely received form, its parts in order. */
export interface UploadForm {
  files: { name: string; file: ReceivedFile }[];
  fields: { name: string; value: string }[];
}

/**
 * Receives a complete form before acting on it: a file may precede the field with its path, and an invalid field must change
 * nothing. Files that were not put anywhere are deleted.
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

/** Parses a path field. Throws `invalid_input` with the field's name. */
export function pathField(name: string, value: string | undefined): string {
  const parsed = AbsolutePath.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new HoldfastError('invalid_input', `${name}: must be an absolute path`);
}

/**
 * Pairs each file with its path. Clients name the fields `files[0][file]` and `files[0][dest_path]`, with dots, or without an
 * index, in which case they pair up in order.
 */
export function filesWithPaths(form: UploadForm): { file: ReceivedFile; field: string; path: string }[] {
  return pairsOf(form, 'file', 'dest_path').map(({ file, field, text }) => ({
    file,
    field,
    path: pathField(field, text),
  }));
}

/** Pairs each file with the text field of the same list entry, for example `list[0][file]` with `list[0][text]`. */
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

/** Name of the list entry that a field belongs to; null if the field is not that member. */
function entryOf(name: string, member: string): string | null {
  if (name === member) return '';
  const end = [`[${member}]`, `.${member}`].find((ending) => name.endsWith(ending));
  return end === undefined ? null : name.slice(0, -end.length);
}
