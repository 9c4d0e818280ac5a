import type { Readable } from 'node:stream';
import { FormData } from 'undici';
import { z } from 'zod';
import { FileInfo } from '../contract/files.ts';
import { parseAnswer } from './answers.ts';
import { BrowserServiceError, errorForStatus, invalidResponse } from './errors.ts';
import type { BrowserService } from './service.ts';
import type { SessionTarget } from './sessions.ts';
import { retrieveSession, sessionPath } from './sessions.ts';

/** The part of a listing that is read; other implementations format times and modes differently. */
const Listed = FileInfo.pick({ name: true, path: true, is_dir: true, size_bytes: true });
type Listed = z.infer<typeof Listed>;

/** Lists a folder (`fs/list_files`); null if there is no such folder. */
export async function listFiles(
  service: BrowserService,
  target: SessionTarget,
  path: string,
): Promise<Listed[] | null> {
  const text = await queryFile(service, target, 'list_files', path);
  if (text === null) return null;
  // Some implementations send null for an empty list.
  return parseAnswer(z.array(Listed).nullable(), text === '' ? 'null' : text) ?? [];
}

/** Describes a file or folder (`fs/file_info`); null if it does not exist. */
export async function fileInfo(service: BrowserService, target: SessionTarget, path: string): Promise<Listed | null> {
  const text = await queryFile(service, target, 'file_info', path);
  return text === null ? null : parseAnswer(Listed, text);
}

async function queryFile(
  service: BrowserService,
  target: SessionTarget,
  name: 'list_files' | 'file_info',
  path: string,
): Promise<string | null> {
  const { projectId, sessionId } = target;
  const call = { method: 'GET' as const, path: pathOf(sessionId, name, path), projectId, schema: null };
  const answer = await service.exchange(call);
  if (answer.status === 404) {
    // Either the path or the session is missing; the latter throws `session_gone` here.
    await retrieveSession(service, projectId, sessionId);
    return null;
  }
  if (answer.status >= 400) throw errorForStatus(answer.status, answer.retryAfter);
  return answer.text;
}

/** Streams a folder as a ZIP archive (`fs/download_dir_zip`). The caller reads or destroys the stream. */
export async function downloadFolder(
  service: BrowserService,
  target: SessionTarget,
  path: string,
  signal?: AbortSignal,
): Promise<Readable> {
  const { projectId, sessionId } = target;
  const place = pathOf(sessionId, 'download_dir_zip', path);
  try {
    return await service.open({ method: 'GET', path: place, projectId, schema: null, signal });
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof BrowserServiceError) || error.code !== 'session_gone') throw error;
    await retrieveSession(service, projectId, sessionId);
    throw invalidResponse('The folder does not exist in the browser session');
  }
}

/** Streams a file's content (`fs/read_file`). The caller reads or destroys the stream. */
export function readFile(
  service: BrowserService,
  { projectId, sessionId }: SessionTarget,
  path: string,
  signal?: AbortSignal,
): Promise<Readable> {
  const place = pathOf(sessionId, 'read_file', path);
  return service.open({ method: 'GET', path: place, projectId, schema: null, signal });
}

/** Writes a file (`fs/write_file`). Content that is a stream cannot be retried. */
export async function writeFile(
  service: BrowserService,
  { projectId, sessionId }: SessionTarget,
  path: string,
  content: Buffer | Readable,
): Promise<void> {
  const place = pathOf(sessionId, 'write_file', path);
  await service.call({ method: 'PUT', path: place, projectId, content, schema: null });
}

/** A file to upload, held in memory. */
interface UploadedFile {
  path: string;
  content: Buffer;
}

/** Writes several files at once (`fs/upload`), and creates their parent folders. */
export function uploadFiles(
  service: BrowserService,
  target: SessionTarget,
  files: readonly UploadedFile[],
): Promise<null> {
  const form = new FormData();
  for (const [index, { path, content }] of files.entries()) {
    form.append(`files[${String(index)}][dest_path]`, path);
    form.append(`files[${String(index)}][file]`, new Blob([new Uint8Array(content)]), 'file');
  }
  return send(service, target, 'upload', form);
}

/** Extracts a ZIP archive into a folder (`fs/upload_zip`), which is created if missing. */
export function uploadZip(
  service: BrowserService,
  target: SessionTarget,
  folder: string,
  archive: Buffer,
): Promise<null> {
  const form = new FormData();
  form.append('dest_path', folder);
  form.append('zip_file', new Blob([new Uint8Array(archive)]), 'archive.zip');
  return send(service, target, 'upload_zip', form);
}

/** Sets a file's or folder's permissions (`fs/set_file_permissions`); `mode` in octal, such as `640`. */
export const setFilePermissions = (service: BrowserService, target: SessionTarget, path: string, mode: string) =>
  change(service, target, 'set_file_permissions', { path, mode });

/** Creates a folder and its parents (`fs/create_directory`). Idempotent. */
export const createFolder = (service: BrowserService, target: SessionTarget, path: string) =>
  change(service, target, 'create_directory', { path });

/** Deletes a file (`fs/delete_file`). */
export const deleteFile = (service: BrowserService, target: SessionTarget, path: string) =>
  change(service, target, 'delete_file', { path });

/** Deletes a folder with its contents (`fs/delete_directory`). */
export const deleteFolder = (service: BrowserService, target: SessionTarget, path: string) =>
  change(service, target, 'delete_directory', { path });

/** Renames or moves a file or folder (`fs/move`). */
export const move = (service: BrowserService, target: SessionTarget, from: string, to: string) =>
  change(service, target, 'move', { src_path: from, dest_path: to });

function change(
  service: BrowserService,
  { projectId, sessionId }: SessionTarget,
  name: string,
  body: Record<string, string>,
): Promise<null> {
  return service.call({ method: 'PUT', path: `${sessionPath(sessionId)}/fs/${name}`, projectId, body, schema: null });
}

function send(
  service: BrowserService,
  { projectId, sessionId }: SessionTarget,
  name: string,
  content: FormData,
): Promise<null> {
  const place = `${sessionPath(sessionId)}/fs/${name}`;
  return service.call({ method: 'POST', path: place, projectId, content, schema: null });
}

function pathOf(sessionId: string, name: string, path: string): string {
  return `${sessionPath(sessionId)}/fs/${name}?path=${encodeURIComponent(path)}`;
}
