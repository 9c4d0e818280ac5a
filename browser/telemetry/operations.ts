/** Part of a session's paths whose calls drive the browser; all others manage what is around it. */
const DRIVING = new Set(['computer', 'playwright', 'curl']);
/** Reading telemetry is none of the calls that it tells of: a reader would read itself. */
const UNTOLD = new Set(['telemetry']);

/** The operation whose event carries the code that it was given. */
export const EXECUTE_CODE = 'ExecutePlaywrightCode';

/** Names of operations that do not follow from their path. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['POST computer/type', 'TypeText'],
  ['POST computer/batch', 'BatchComputerAction'],
  ['POST computer/screenshot', 'TakeScreenshot'],
  ['POST computer/cursor', 'SetCursor'],
  ['POST computer/clipboard/read', 'ReadClipboard'],
  ['POST computer/clipboard/write', 'WriteClipboard'],
  ['POST playwright/execute', EXECUTE_CODE],
  ['POST replays', 'StartReplay'],
  ['GET replays', 'ListReplays'],
  ['GET replays/:', 'DownloadReplay'],
  ['POST replays/:/stop', 'StopReplay'],
  ['POST fs/watch', 'StartFsWatch'],
  ['GET fs/watch/:/events', 'StreamFsEvents'],
  ['DELETE fs/watch/:', 'StopFsWatch'],
  ['POST extensions', 'UploadExtensions'],
]);

/** A call inside a session, as telemetry names it. */
export interface Operation {
  /** Handler name of the operation, such as `ClickMouse`. */
  id: string;
  event: 'api_call' | 'platform_api_call';
}

/**
 * The operation of a route below `/browsers/:id/`; null for routes of sessions themselves, and of telemetry. Routes that
 * are not listed are named by their path: `process/:processId/stdout/stream` is `ProcessStdoutStream`.
 */
export function operationOf(method: string, route: string): Operation | null {
  const path = /^\/browsers\/:\w+\/(?<path>.+)$/.exec(route)?.groups?.['path'];
  if (path === undefined) return null;
  const parts = path.split('/');
  const [area = ''] = parts;
  if (UNTOLD.has(area)) return null;
  const key = `${method} ${parts.map((part) => (part.startsWith(':') ? ':' : part)).join('/')}`;
  // Computer actions and file operations are known by their own names alone.
  const named = ['computer', 'fs'].includes(area) && parts.length > 1 ? parts.slice(1) : parts;
  const id =
    NAMES.get(key) ??
    named
      .filter((part) => /^\w/.test(part))
      .map(pascal)
      .join('');
  return { id, event: DRIVING.has(area) ? 'api_call' : 'platform_api_call' };
}

function pascal(part: string): string {
  return part
    .split('_')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');
}
