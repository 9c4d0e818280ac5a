import { z } from 'zod';
import { Browser, BrowserCreate, BrowserListQuery, BrowserRetrieveQuery, BrowserUpdate } from './browsers.ts';
import {
  Batch,
  ClickMouse,
  ClipboardText,
  DragMouse,
  MousePosition,
  MoveMouse,
  PressKey,
  Screenshot,
  Scroll,
  SetCursor,
  TypeText,
} from './computer.ts';
import { Curl, CurlResult } from './curl.ts';
import {
  CreateDirectory,
  DeletePath,
  FileInfo,
  FilePathQuery,
  FileWatch,
  MovePath,
  SetFilePermissions,
  WatchFolder,
  WriteFileQuery,
} from './files.ts';
import { LogStreamQuery } from './logs.ts';
import { PlaywrightExecute, PlaywrightResult } from './playwright.ts';
import {
  Ok,
  ProcessExec,
  ProcessKill,
  ProcessResize,
  ProcessResult,
  ProcessSpawn,
  ProcessStatus,
  ProcessStdin,
  SpawnedProcess,
  StdinWritten,
} from './processes.ts';
import { Replay, ReplayStart } from './replays.ts';
import { TelemetryEnvelope } from './telemetry-events.ts';
import { TelemetryEventsQuery, TelemetryStreamQuery } from './telemetry-queries.ts';

/** One operation on browser sessions. `:name` in `url` is a parameter of the path. */
export interface BrowserRoute {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  query?: z.ZodType;
  body?: z.ZodType;
  /** Media type of the body where it is not JSON. */
  consumes?: 'multipart/form-data' | 'application/octet-stream';
  /** The answer of success: its status and shape. */
  status: 200 | 201 | 204;
  answer?: z.ZodType;
  /** Media type of the answer where it is not JSON. */
  produces?:
    'text/event-stream' | 'image/png' | 'video/mp4' | 'application/zip' | 'application/octet-stream' | 'text/html';
  /** Statuses of refusals that every operation on sessions does not have anyway. */
  refusals?: readonly number[];
  /** The session's own token, as `jwt` in the query, opens the operation in place of a key. */
  takesSessionToken?: true;
}

const ID = '/browsers/:id';
const Binary = z.string().meta({ format: 'binary' });
const TokenQuery = z.object({ jwt: z.string().optional() });
const FileUpload = z.object({ files: z.array(z.object({ file: Binary, dest_path: z.string() })) });
const ArchiveUpload = z.object({ zip_file: Binary, dest_path: z.string() });
const ExtensionUpload = z.object({ extensions: z.array(z.object({ zip_file: Binary, name: z.string() })) });

/** A `POST …/computer/{name}` whose success has nothing to say. */
const act = (name: string, body: z.ZodType) =>
  ({ method: 'POST', url: `${ID}/computer/${name}`, body, status: 200, refusals: [400, 404, 422] }) as const;

/** A `PUT …/fs/{name}` whose success has nothing to say. */
const change = (name: string, body: z.ZodType) =>
  ({ method: 'PUT', url: `${ID}/fs/${name}`, body, status: 200, refusals: [400, 404, 422] }) as const;

/** A `POST …/fs/{name}` with a form. */
const upload = (url: string, body: z.ZodType) =>
  ({
    method: 'POST',
    url,
    body,
    consumes: 'multipart/form-data',
    status: 200,
    refusals: [400, 404, 413, 415, 422],
  }) as const;

/**
 * Every operation on browser sessions by its operation id: what the API's document describes, and what the browser service
 * serves. Websockets (`cdp`, `bidi`, `live`) are not HTTP operations; their URLs come from the session.
 */
export const BROWSER_ROUTES: Readonly<Record<string, BrowserRoute>> = {
  createBrowser: {
    ...{ method: 'POST', url: '/browsers', body: BrowserCreate.nullish(), status: 200, answer: Browser },
    refusals: [400, 404, 422, 501, 529],
  },
  listBrowsers: {
    method: 'GET',
    url: '/browsers',
    query: BrowserListQuery,
    status: 200,
    answer: z.array(Browser),
    refusals: [400],
  },
  retrieveBrowser: {
    method: 'GET',
    url: ID,
    query: BrowserRetrieveQuery,
    status: 200,
    answer: Browser,
    refusals: [400, 404],
  },
  updateBrowser: {
    method: 'PATCH',
    url: ID,
    body: BrowserUpdate.nullish(),
    status: 200,
    answer: Browser,
    refusals: [400, 404, 409, 422],
  },
  deleteBrowser: { method: 'DELETE', url: ID, status: 204, refusals: [404] },
  viewBrowser: {
    method: 'GET',
    url: `${ID}/live`,
    query: TokenQuery,
    status: 200,
    produces: 'text/html',
    refusals: [404],
    takesSessionToken: true,
  },

  clickMouse: act('click_mouse', ClickMouse),
  moveMouse: act('move_mouse', MoveMouse),
  typeText: act('type', TypeText),
  pressKey: act('press_key', PressKey),
  scroll: act('scroll', Scroll),
  dragMouse: act('drag_mouse', DragMouse),
  batchComputerActions: act('batch', Batch),
  writeClipboard: act('clipboard/write', ClipboardText),
  readClipboard: {
    method: 'POST',
    url: `${ID}/computer/clipboard/read`,
    status: 200,
    answer: ClipboardText,
    refusals: [404, 422],
  },
  takeScreenshot: {
    ...{ method: 'POST', url: `${ID}/computer/screenshot`, body: Screenshot.nullish(), status: 200 },
    ...{ produces: 'image/png', refusals: [400, 404, 422] },
  },
  getMousePosition: {
    method: 'POST',
    url: `${ID}/computer/get_mouse_position`,
    status: 200,
    answer: MousePosition,
    refusals: [404],
  },
  setCursor: {
    method: 'POST',
    url: `${ID}/computer/cursor`,
    body: SetCursor,
    status: 200,
    answer: Ok,
    refusals: [400, 404],
  },

  executePlaywright: {
    ...{ method: 'POST', url: `${ID}/playwright/execute`, body: PlaywrightExecute, status: 200 },
    ...{ answer: PlaywrightResult, refusals: [400, 404, 422, 501] },
  },
  curl: { method: 'POST', url: `${ID}/curl`, body: Curl, status: 200, answer: CurlResult, refusals: [400, 404, 422] },

  spawnProcess: {
    method: 'POST',
    url: `${ID}/process/spawn`,
    body: ProcessSpawn,
    status: 200,
    answer: SpawnedProcess,
    refusals: [400, 404, 422, 501],
  },
  executeProcess: {
    method: 'POST',
    url: `${ID}/process/exec`,
    body: ProcessExec,
    status: 200,
    answer: ProcessResult,
    refusals: [400, 404, 422, 501],
  },
  processStatus: {
    method: 'GET',
    url: `${ID}/process/:processId/status`,
    status: 200,
    answer: ProcessStatus,
    refusals: [404],
  },
  killProcess: {
    method: 'POST',
    url: `${ID}/process/:processId/kill`,
    body: ProcessKill.nullish(),
    status: 200,
    answer: Ok,
    refusals: [400, 404, 422],
  },
  writeProcessStdin: {
    method: 'POST',
    url: `${ID}/process/:processId/stdin`,
    body: ProcessStdin,
    status: 200,
    answer: StdinWritten,
    refusals: [400, 404, 422],
  },
  resizeProcess: {
    method: 'POST',
    url: `${ID}/process/:processId/resize`,
    body: ProcessResize,
    status: 200,
    answer: Ok,
    refusals: [400, 404],
  },
  streamProcessOutput: {
    method: 'GET',
    url: `${ID}/process/:processId/stdout/stream`,
    status: 200,
    produces: 'text/event-stream',
    refusals: [404],
  },

  listFiles: {
    method: 'GET',
    url: `${ID}/fs/list_files`,
    query: FilePathQuery,
    status: 200,
    answer: z.array(FileInfo),
    refusals: [400, 404, 422],
  },
  fileInfo: {
    method: 'GET',
    url: `${ID}/fs/file_info`,
    query: FilePathQuery,
    status: 200,
    answer: FileInfo,
    refusals: [400, 404, 422],
  },
  readFile: {
    method: 'GET',
    url: `${ID}/fs/read_file`,
    query: FilePathQuery,
    status: 200,
    produces: 'application/octet-stream',
    refusals: [400, 404, 422],
  },
  downloadDirectory: {
    method: 'GET',
    url: `${ID}/fs/download_dir_zip`,
    query: FilePathQuery,
    status: 200,
    produces: 'application/zip',
    refusals: [400, 404, 422],
  },
  writeFile: {
    ...{ method: 'PUT', url: `${ID}/fs/write_file`, query: WriteFileQuery, body: Binary, status: 200 },
    ...{ consumes: 'application/octet-stream', refusals: [400, 404, 413, 422] },
  },
  uploadFiles: upload(`${ID}/fs/upload`, FileUpload),
  uploadArchive: upload(`${ID}/fs/upload_zip`, ArchiveUpload),
  createDirectory: change('create_directory', CreateDirectory),
  deleteFile: change('delete_file', DeletePath),
  deleteDirectory: change('delete_directory', DeletePath),
  movePath: change('move', MovePath),
  setFilePermissions: change('set_file_permissions', SetFilePermissions),
  startFileWatch: {
    method: 'POST',
    url: `${ID}/fs/watch`,
    body: WatchFolder,
    status: 200,
    answer: FileWatch,
    refusals: [400, 404, 422],
  },
  streamFileEvents: {
    method: 'GET',
    url: `${ID}/fs/watch/:watchId/events`,
    status: 200,
    produces: 'text/event-stream',
    refusals: [404],
  },
  stopFileWatch: { method: 'DELETE', url: `${ID}/fs/watch/:watchId`, status: 204, refusals: [404] },

  uploadExtensions: upload(`${ID}/extensions`, ExtensionUpload),
  streamLogs: {
    method: 'GET',
    url: `${ID}/logs/stream`,
    query: LogStreamQuery,
    status: 200,
    produces: 'text/event-stream',
    refusals: [400, 404, 422],
  },

  startReplay: {
    method: 'POST',
    url: `${ID}/replays`,
    body: ReplayStart.nullish(),
    status: 201,
    answer: Replay,
    refusals: [400, 404, 409, 422],
  },
  listReplays: { method: 'GET', url: `${ID}/replays`, status: 200, answer: z.array(Replay), refusals: [404] },
  downloadReplay: {
    method: 'GET',
    url: `${ID}/replays/:replayId`,
    status: 200,
    produces: 'video/mp4',
    refusals: [404],
  },
  stopReplay: { method: 'POST', url: `${ID}/replays/:replayId/stop`, status: 200, refusals: [404, 422] },
  viewReplay: {
    method: 'GET',
    url: `${ID}/replays/:replayId/view`,
    query: TokenQuery,
    status: 200,
    produces: 'video/mp4',
    refusals: [404],
    takesSessionToken: true,
  },

  streamTelemetry: {
    ...{ method: 'GET', url: `${ID}/telemetry/stream`, query: TelemetryStreamQuery, status: 200 },
    ...{ produces: 'text/event-stream', refusals: [400, 404], takesSessionToken: true },
  },
  listTelemetryEvents: {
    ...{ method: 'GET', url: `${ID}/telemetry/events`, query: TelemetryEventsQuery, status: 200 },
    ...{ answer: z.array(z.object({ seq: z.int(), event: TelemetryEnvelope })), refusals: [400, 404] },
  },
};
