import type { Readable } from 'node:stream';
import { FormData } from 'undici';
import { z } from 'zod';
import { FileInfo } from '../contract/files.ts';
import { parseAnswer } from './answers.ts';
import { BrowserServiceError, errorForStatus, invalidResponse } from './errors.ts';
import type { BrowserService } from './service.ts';
import type { SessionTarget } from './sessions.ts';
import { retrieveSession, sessionPath } from './sessions.ts';

/** What is read of a listing; a peer may write times and modes in its own way. */
const Listed = FileInfo.pick({ name: true, path: true, is_dir: true, size_bytes: true });
type Listed = z.infer<typeof Listed>;

/** The entries of a folder (`fs/list_files`); null when there is no such folder. May be repeated. */
export async function listFiles(
  service: BrowserService,
  target: SessionTarget,
  path: string,
): Promise<Listed[] | null> {
  const text = await askOf(service, target, 'list_files', path);
  if (text === null) return null;
  // A peer written in another language says null for an empty list.
  return parseAnswer(z.array(Listed).nullable(), text === '' ? 'null' : text) ?? [];
}

/** One file or folder (`fs/file_info`); null when there is none. May be repeated. */
export async function fileInfo(service: BrowserService, target: SessionTarget, path: string): Promise<Listed | null> {
  const text = await askOf(service, target, 'file_info', path);
  return text === null ? null : parseAnswer(Listed, text);
}

async function askOf(
  service: BrowserService,
  target: SessionTarget,
  name: 'list_files' | 'file_info',
  path: string,
): Promise<string | null> {
  const { projectId, sessionId } = target;
  const answer = await service.exchange({
    method: 'GET',
    path: operationAt(sessionId, name, path),
    projectId,
    schema: null,
  });
  if (answer.status === 404) {
    // Of the path or of the session: the session itself knows, and `session_gone` is thrown when it does not.
    await retrieveSession(service, projectId, sessionId);
    return null;
  }
  if (answer.status >= 400) throw errorForStatus(answer.status, answer.retryAfter);
  return answer.text;
}

/**
 * A folder as a ZIP archive (`fs/download_dir_zip`), as it comes. Whoever takes the stream reads or destroys it; a stream
 * that breaks off is an error of the stream.
 */
export async function downloadFolder(
  service: BrowserService,
  target: SessionTarget,
  path: string,
  signal?: AbortSignal,
): Promise<Readable> {
  const { projectId, sessionId } = target;
  const call = {
    method: 'GET' as const,
    path: operationAt(sessionId, 'download_dir_zip', path),
    projectId,
    schema: null,
    signal,
  };
  try {
    return await service.open(call);
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof BrowserServiceError) || error.code !== 'session_gone') throw error;
    await retrieveSession(service, projectId, sessionId);
    throw invalidResponse('The folder does not exist in the browser session');
  }
}

/** A file's content (`fs/read_file`), as it comes. Whoever takes the stream reads or destroys it. */
export function readFile(
  service: BrowserService,
  { projectId, sessionId }: SessionTarget,
  path: string,
  signal?: AbortSignal,
): Promise<Readable> {
  const place = operationAt(sessionId, 'read_file', path);
  return service.open({ method: 'GET', path: place, projectId, schema: null, signal });
}

/** Writes a file (`fs/write_file`); its folder is there. A content that is a stream can be sent once only. */
export async function writeFile(
  service: BrowserService,
  { projectId, sessionId }: SessionTarget,
  path: string,
  content: Buffer | Readable,
): Promise<void> {
  const place = operationAt(sessionId, 'write_file', path);
  await service.call({ method: 'PUT', path: place, projectId, content, schema: null });
}

/** A file for a place in the session, held in memory. */
interface UploadedFile {
  path: string;
  content: Buffer;
}

/** Writes several files at once (`fs/upload`), each with the folders on the way to it. */
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

/** Unpacks a ZIP archive into a folder (`fs/upload_zip`), which is made when it is not there. */
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

/** Sets a file's or folder's permission bits (`fs/set_file_permissions`); `mode` in octal, such as `640`. */
export function setFilePermissions(
  service: BrowserService,
  target: SessionTarget,
  path: string,
  mode: string,
): Promise<null> {
  return change(service, target, 'set_file_permissions', { path, mode });
}

/** Makes a folder and those on the way to it (`fs/create_directory`). May be repeated. */
export function createFolder(service: BrowserService, target: SessionTarget, path: string): Promise<null> {
  return change(service, target, 'create_directory', { path });
}

/** Removes a file (`fs/delete_file`). */
export function deleteFile(service: BrowserService, target: SessionTarget, path: string): Promise<null> {
  return change(service, target, 'delete_file', { path });
}

/** Removes a folder with what it holds (`fs/delete_directory`). */
export function deleteFolder(service: BrowserService, target: SessionTarget, path: string): Promise<null> {
  return change(service, target, 'delete_directory', { path });
}

/** Gives a file or folder another name or place (`fs/move`). */
export function move(service: BrowserService, target: SessionTarget, from: string, to: string): Promise<null> {
  return change(service, target, 'move', { src_path: from, dest_path: to });
}

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

/** The path of an operation on a place in the session. */
function operationAt(sessionId: string, name: string, path: string): string {
  return `${sessionPath(sessionId)}/fs/${name}?path=${encodeURIComponent(path)}`;
}
