import path from 'node:path';
import { isLoadedExtension } from '../extensions/loaded-extensions.ts';
import type { Session } from '../session/session.ts';
import type { ClientCommand } from './messages.ts';

/** What happens to a command: it is forwarded (perhaps with changed parameters), refused, or answered by the proxy. */
export type Verdict =
  | { kind: 'forward'; command: ClientCommand }
  | { kind: 'refuse'; message: string }
  /** `Browser.close` only closes the client's connection; the session lives until it is deleted or times out. */
  | { kind: 'disconnect' };

interface GuardContext {
  /** The only host folder that downloads may be written to. */
  downloadFolder: string;
  /** Whether an extension was loaded for the session, so that its pages may be opened. */
  hasExtension(id: string): boolean;
  /** Whether the browser's own sign-in prompt is canceled: in a login nobody can answer it, and the request would wait forever. */
  cancelsSignInPrompts: boolean;
}

/** The guard context of a session. */
export function guardContextOf({ chromium, record }: Session): GuardContext {
  return {
    downloadFolder: path.join(chromium.userDataDir, 'Downloads'),
    hasExtension: (id) => isLoadedExtension(chromium, id),
    cancelsSignInPrompts: record.managedAuth,
  };
}

/** Schemes that clients may open; all others expose the host or browser internals. */
const ALLOWED_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'about:', 'data:', 'blob:', 'javascript:']);

/** Commands that reach beyond the session: to host files, ports and processes, or around the guard. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['Browser.crash', 'end the session with DELETE /browsers/{id}'],
  ['Browser.crashGpuProcess', 'end the session with DELETE /browsers/{id}'],
  ['Target.exposeDevToolsProtocol', 'pages cannot control the browser'],
  ['Target.sendMessageToTarget', 'use flat sessions (attach with flatten: true)'],
  ['Target.setRemoteLocations', 'remote hosts are not accessible'],
]);
const REFUSED_DOMAINS: ReadonlyMap<string, string> = new Map([
  ['Tethering', 'host ports are not accessible'],
  ['Extensions', 'upload extensions with POST /browsers/{id}/extensions, or list them when creating the session'],
  ['PWA', 'apps cannot be installed on the host'],
]);

/** Commands whose `url` parameter the browser fetches or opens. */
const URL_COMMANDS: ReadonlySet<string> = new Set([
  'Page.navigate',
  'Target.createTarget',
  'Network.loadNetworkResource',
  'Fetch.continueRequest',
  'Network.continueInterceptedRequest',
]);

/** Decides what happens to a command. Its messages never contain parameter values. */
export function judgeCommand(command: ClientCommand, context: GuardContext): Verdict {
  const { method, params = {} } = command;
  const domain = method.split('.')[0] ?? '';
  const refused = REFUSED.get(method) ?? REFUSED_DOMAINS.get(domain);
  if (refused !== undefined) return { kind: 'refuse', message: `${method} is refused: ${refused}` };
  if (URL_COMMANDS.has(method) && !mayOpen(params['url'], context)) {
    return {
      kind: 'refuse',
      message: `${method} is refused: only http, https, about, data and blob URLs and the session's extension pages can be opened`,
    };
  }
  switch (method) {
    case 'Browser.close':
      return { kind: 'disconnect' };
    case 'Target.createBrowserContext':
      // A context with its own proxy would bypass the egress proxy.
      if (isGiven(params['proxyServer']) || isGiven(params['proxyBypassList'])) {
        return { kind: 'refuse', message: `${method} is refused: a context cannot have its own proxy` };
      }
      return { kind: 'forward', command };
    case 'Fetch.continueWithAuth':
      // Playwright leaves challenges to the browser, which prompts for them; canceled, the page gets the 401.
      if (!context.cancelsSignInPrompts || record(params['authChallengeResponse'])['response'] !== 'Default')
        return { kind: 'forward', command };
      return {
        kind: 'forward',
        command: { ...command, params: { ...params, authChallengeResponse: { response: 'CancelAuth' } } },
      };
    case 'DOM.setFileInputFiles':
      return hasEntries(params['files']) ? refuseHostFiles(method) : { kind: 'forward', command };
    case 'Input.dispatchDragEvent':
      return hasEntries(record(params['data'])['files']) ? refuseHostFiles(method) : { kind: 'forward', command };
    case 'Browser.setDownloadBehavior':
    case 'Page.setDownloadBehavior':
      if (!isGiven(params['downloadPath'])) return { kind: 'forward', command };
      return {
        kind: 'forward',
        command: { ...command, params: { ...params, downloadPath: context.downloadFolder } },
      };
    default:
      return { kind: 'forward', command };
  }
}

function refuseHostFiles(method: string): Verdict {
  return {
    kind: 'refuse',
    message: `${method} is refused: host files cannot be read; send the content instead`,
  };
}

function mayOpen(text: unknown, context: GuardContext): boolean {
  // Empty means about:blank, and the browser refuses invalid URLs itself.
  if (typeof text !== 'string' || !URL.canParse(text)) return true;
  const url = new URL(text);
  return (
    ALLOWED_SCHEMES.has(url.protocol) || (url.protocol === 'chrome-extension:' && context.hasExtension(url.hostname))
  );
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function hasEntries(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
