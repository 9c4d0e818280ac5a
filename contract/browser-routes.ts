import { z } from 'zod';
import { Browser, BrowserCreate, BrowserListQuery, BrowserRetrieveQuery, BrowserUpdate } from './browsers.ts';
import * as computer from './computer.ts';
import { Curl, CurlRawQuery, CurlResult } from './curl.ts';
import * as files from './files.ts';
import { LogStreamQuery } from './logs.ts';
import { PlaywrightExecute, PlaywrightResult } from './playwright.ts';
import * as processes from './processes.ts';
import { Replay, ReplayStart } from './replays.ts';
import { FocusedControl, PickedValue } from './screencast.ts';
import { TelemetryEnvelope } from './telemetry-events.ts';
import { TelemetryEventsQuery, TelemetryStreamQuery } from './telemetry-queries.ts';

/** One operation on browser sessions: the API documents it and the browser service serves it from here. */
export interface BrowserRoute<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `:name` is a parameter of the path. */
  url: string;
  /** One line for the API document. */
  summary: string;
  params: Params;
  query: Query;
  /** The JSON body. */
  body: Body;
  /** A body that is not JSON: the handler reads it, the API document describes it. */
  content?: { type: 'multipart/form-data' | 'application/octet-stream'; schema: z.ZodType };
  /** Status of success. */
  status: 200 | 201 | 204;
  answer: Answer;
  /** Status of a success without a result. */
  emptyStatus?: 204;
  /** Media type of a response that is not JSON. */
  produces?:
    | 'text/event-stream'
    | 'image/png'
    | 'video/mp4'
    | 'application/zip'
    | 'application/octet-stream'
    | 'text/html';
  /** Error statuses that not every operation has. */
  refusals: readonly number[];
  /** The service's key; the key or the token (`jwt`) of the session in the path; or a token for this link only. */
  opens: 'key' | 'session' | 'link';
}

/** Of an operation without a query or body. */
export const NOTHING = z.unknown();
/** Of a success without a body. */
export const NO_ANSWER = z.void();

const Name = z.string().min(1).max(255);
/** The session in a path, by id or name. */
const SessionParams = z.object({ id: Name });
const ProcessParams = SessionParams.extend({ processId: Name });
const WatchParams = SessionParams.extend({ watchId: Name });
const ReplayParams = SessionParams.extend({ replayId: z.string().min(1).max(64) });
const LinkQuery = z.object({ jwt: z.string().max(4096).optional() });

const Binary = z.string().meta({ format: 'binary' });
const BYTES = { type: 'application/octet-stream', schema: Binary } as const;
const FileUpload = z.object({ files: z.array(z.object({ file: Binary, dest_path: z.string() })) });
const ArchiveUpload = z.object({ zip_file: Binary, dest_path: z.string() });
const ExtensionUpload = z.object({ extensions: z.array(z.object({ zip_file: Binary, name: z.string() })) });

/** A body that may be absent or `null`: its members have defaults or are optional. */
const optional = <Body extends z.ZodType>(body: Body) => body.nullish();

const OF_SESSIONS = { query: NOTHING, body: NOTHING, answer: Browser, status: 200, opens: 'key' } as const;
const IN_SESSION = {
  params: SessionParams,
  query: NOTHING,
  body: NOTHING,
  answer: NO_ANSWER,
  status: 200,
  refusals: [400, 404, 422],
  opens: 'session',
} as const;
const ID = '/browsers/:id';

const get = <Query extends z.ZodType, Answer extends z.ZodType>(
  path: string,
  summary: string,
  query: Query,
  answer: Answer,
) => ({ ...IN_SESSION, method: 'GET', url: `${ID}/${path}`, summary, query, answer }) as const;

const post = <Body extends z.ZodType, Answer extends z.ZodType>(
  path: string,
  summary: string,
  body: Body,
  answer: Answer,
) => ({ ...IN_SESSION, method: 'POST', url: `${ID}/${path}`, summary, body, answer }) as const;

const put = <Body extends z.ZodType>(path: string, summary: string, body: Body) =>
  ({ ...IN_SESSION, method: 'PUT', url: `${ID}/${path}`, summary, body }) as const;

const upload = (path: string, summary: string, schema: z.ZodType) =>
  ({
    ...post(path, summary, NOTHING, NO_ANSWER),
    content: { type: 'multipart/form-data', schema },
    refusals: [400, 404, 413, 415, 422],
  }) as const;

const stream = <Query extends z.ZodType>(path: string, summary: string, query: Query) =>
  ({ ...get(path, summary, query, z.string()), produces: 'text/event-stream' }) as const;

const curlRaw = <Method extends BrowserRoute['method']>(method: Method) =>
  ({
    ...IN_SESSION,
    method,
    url: `${ID}/curl/raw`,
    query: CurlRawQuery,
    answer: Binary,
    produces: 'application/octet-stream',
    ...(method === 'GET' ? {} : { content: BYTES }),
    summary: `Forward a ${method} request through the session’s browser`,
    refusals: [400, 403, 404, 413, 422],
  }) as const;

/** Every operation on browser sessions by operation id. WebSocket URLs come from the session instead. */
export const BROWSER_ROUTES = {
  createBrowser: {
    ...OF_SESSIONS,
    method: 'POST',
    url: '/browsers',
    summary: 'Start a browser session',
    params: NOTHING,
    body: optional(BrowserCreate),
    refusals: [400, 404, 409, 422, 529],
  },
  listBrowsers: {
    ...OF_SESSIONS,
    method: 'GET',
    url: '/browsers',
    summary: 'List browser sessions, newest first',
    params: NOTHING,
    query: BrowserListQuery,
    answer: z.array(Browser),
    refusals: [400],
  },
  retrieveBrowser: {
    ...OF_SESSIONS,
    method: 'GET',
    url: ID,
    summary: 'Read a browser session',
    params: SessionParams,
    query: BrowserRetrieveQuery,
    refusals: [400, 404],
  },
  updateBrowser: {
    ...OF_SESSIONS,
    method: 'PATCH',
    url: ID,
    summary: 'Change a running session',
    params: SessionParams,
    body: optional(BrowserUpdate),
    refusals: [400, 404, 409, 422],
  },
  deleteBrowser: {
    ...OF_SESSIONS,
    method: 'DELETE',
    url: ID,
    summary: 'End a session, saving its profile first',
    params: SessionParams,
    status: 204,
    answer: NO_ANSWER,
    refusals: [404, 502],
  },
  viewBrowser: {
    ...get('live', 'Open the live view, a page for a person', LinkQuery, z.string()),
    produces: 'text/html',
    refusals: [404],
    opens: 'link',
  },

  clickMouse: post('computer/click_mouse', 'Click, press or release a button', computer.ClickMouse, NO_ANSWER),
  moveMouse: post('computer/move_mouse', 'Move the mouse', computer.MoveMouse, NO_ANSWER),
  typeText: post('computer/type', 'Type text', computer.TypeText, NO_ANSWER),
  pressKey: post('computer/press_key', 'Press keys', computer.PressKey, NO_ANSWER),
  scroll: post('computer/scroll', 'Turn the wheel', computer.Scroll, NO_ANSWER),
  dragMouse: post('computer/drag_mouse', 'Drag along a path', computer.DragMouse, NO_ANSWER),
  batchComputerAction: post('computer/batch', 'Do several actions in a row', computer.Batch, NO_ANSWER),
  writeClipboard: post('computer/clipboard/write', 'Write the clipboard', computer.ClipboardText, NO_ANSWER),
  readClipboard: post('computer/clipboard/read', 'Read the clipboard', NOTHING, computer.ClipboardText),
  takeScreenshot: {
    ...post('computer/screenshot', 'Take a screenshot', optional(computer.Screenshot), Binary),
    produces: 'image/png',
  },
  getMousePosition: post('computer/get_mouse_position', 'Read where the mouse is', NOTHING, computer.MousePosition),
  streamScreencast: {
    ...stream('computer/screencast', 'Follow the page as pictures, one per change', NOTHING),
    refusals: [400, 404, 422, 429],
  },
  getFocusedControl: post('computer/get_focused_control', 'Read the focused control', NOTHING, FocusedControl),
  pickInFocusedControl: post('computer/pick', 'Set the focused list or date control', PickedValue, NO_ANSWER),
  setCursor: post('computer/cursor', 'Hide or show the pointer', computer.SetCursor, processes.Ok),

  executePlaywrightCode: {
    ...post('playwright/execute', 'Run Playwright code in the session', PlaywrightExecute, PlaywrightResult),
    refusals: [400, 403, 404, 422],
  },
  curl: post('curl', 'Make a request from the session’s browser', Curl, CurlResult),
  curlRawGet: curlRaw('GET'),
  curlRawPost: curlRaw('POST'),
  curlRawPut: curlRaw('PUT'),
  curlRawPatch: curlRaw('PATCH'),
  curlRawDelete: curlRaw('DELETE'),

  processSpawn: {
    ...post('process/spawn', 'Start a program or shell command', processes.ProcessSpawn, processes.SpawnedProcess),
    refusals: [400, 403, 404, 422],
  },
  processExec: {
    ...post('process/exec', 'Run a program or shell command', processes.ProcessExec, processes.ProcessResult),
    refusals: [400, 403, 404, 422],
  },
  processStatus: {
    ...get('process/:processId/status', 'Read the status of a process', NOTHING, processes.ProcessStatus),
    params: ProcessParams,
  },
  processKill: {
    ...post('process/:processId/kill', 'Send a signal', optional(processes.ProcessKill), processes.Ok),
    params: ProcessParams,
  },
  processStdin: {
    ...post('process/:processId/stdin', 'Write to a process', processes.ProcessStdin, processes.StdinWritten),
    params: ProcessParams,
  },
  processResize: {
    ...post('process/:processId/resize', 'Resize the terminal', processes.ProcessResize, processes.Ok),
    params: ProcessParams,
  },
  processStdoutStream: {
    ...stream('process/:processId/stdout/stream', 'Follow the output of a process', NOTHING),
    params: ProcessParams,
  },

  listFiles: get('fs/list_files', 'List a directory', files.FilePathQuery, z.array(files.FileInfo)),
  fileInfo: get('fs/file_info', 'Read file metadata', files.FilePathQuery, files.FileInfo),
  readFile: {
    ...get('fs/read_file', 'Download a file', files.FilePathQuery, Binary),
    produces: 'application/octet-stream',
  },
  downloadDirZip: {
    ...get('fs/download_dir_zip', 'Download a directory', files.FilePathQuery, Binary),
    produces: 'application/zip',
  },
  writeFile: {
    ...put('fs/write_file', 'Write a file', NOTHING),
    query: files.WriteFileQuery,
    content: BYTES,
    refusals: [400, 404, 413, 422],
  },
  upload: upload('fs/upload', 'Write several files', FileUpload),
  uploadZip: upload('fs/upload_zip', 'Unpack an archive', ArchiveUpload),
  createDirectory: put('fs/create_directory', 'Create a directory', files.CreateDirectory),
  deleteFile: put('fs/delete_file', 'Delete a file', files.DeletePath),
  deleteDirectory: put('fs/delete_directory', 'Delete a directory', files.DeletePath),
  move: put('fs/move', 'Move or rename', files.MovePath),
  setFilePermissions: put('fs/set_file_permissions', 'Change permissions', files.SetFilePermissions),
  startFsWatch: post('fs/watch', 'Watch a directory', files.WatchFolder, files.FileWatch),
  streamFsEvents: {
    ...stream('fs/watch/:watchId/events', 'Follow changes in a watched directory', NOTHING),
    params: WatchParams,
  },
  stopFsWatch: {
    ...IN_SESSION,
    method: 'DELETE',
    url: `${ID}/fs/watch/:watchId`,
    summary: 'Stop watching',
    params: WatchParams,
    status: 204,
  },

  uploadExtensions: upload('extensions', 'Load unpacked extensions into the running browser', ExtensionUpload),
  logsStream: stream('logs/stream', 'Follow a log', LogStreamQuery),

  startReplay: {
    ...post('replays', 'Start a recording', optional(ReplayStart), Replay),
    status: 201,
    refusals: [400, 404, 409, 422],
  },
  listReplays: get('replays', 'List recordings', NOTHING, z.array(Replay)),
  downloadReplay: {
    ...get('replays/:replayId', 'Download a recording', NOTHING, Binary),
    params: ReplayParams,
    produces: 'video/mp4',
  },
  stopReplay: { ...post('replays/:replayId/stop', 'Stop a recording', NOTHING, NO_ANSWER), params: ReplayParams },
  viewReplay: {
    ...get('replays/:replayId/view', 'Watch a recording', LinkQuery, Binary),
    params: ReplayParams,
    produces: 'video/mp4',
    refusals: [404],
    opens: 'link',
  },

  streamTelemetry: stream('telemetry/stream', 'Follow telemetry events', TelemetryStreamQuery),
  listTelemetryEvents: get(
    'telemetry/events',
    'Read stored telemetry events',
    TelemetryEventsQuery,
    z.array(TelemetryEnvelope),
  ),
} as const satisfies Record<string, BrowserRoute>;
