/** One command of a client, as far as the guard must understand it. */
export interface ClientCommand {
  id: number;
  method: string;
  params?: Record<string, unknown>;
  sessionId?: string;
}

/** What happens to a command: it goes on (perhaps with changed parameters), is refused, or is answered here. */
export type Verdict =
  | { kind: 'forward'; command: ClientCommand }
  | { kind: 'refuse'; message: string }
  /** A client's `Browser.close` ends its own connection; the session lives on until it is deleted or times out. */
  | { kind: 'disconnect' };

/** What the guard must know of the session. */
export interface GuardContext {
  /** The only folder of the host that downloads may be written to. */
  downloadFolder: string;
  /** True for an id of an extension that was loaded for the session: its pages may be opened, for its worker can be driven. */
  hasExtension(id: string): boolean;
}

/** Schemes that a client may send a page to. Everything else shows the host or the browser's own insides. */
const ALLOWED_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'about:', 'data:', 'blob:', 'javascript:']);

/** Whole commands that reach past the session: the host's files, ports and processes, or the guard itself. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['Browser.crash', 'a session is ended by DELETE /browsers/{id}'],
  ['Browser.crashGpuProcess', 'a session is ended by DELETE /browsers/{id}'],
  ['Target.exposeDevToolsProtocol', 'pages must not drive the browser'],
  ['Target.sendMessageToTarget', 'use flat sessions (attach with flatten: true)'],
  ['Target.setRemoteLocations', 'other hosts are not reached from here'],
]);
const REFUSED_DOMAINS: ReadonlyMap<string, string> = new Map([
  ['Tethering', 'ports of the host are not reached from here'],
  ['Extensions', 'send extensions to POST /browsers/{id}/extensions, or name them when the session is created'],
  ['PWA', 'applications are not installed on the host'],
]);

/** Parameters of commands that hold a URL which the browser will fetch or open. */
const URL_PARAMETERS: ReadonlySet<string> = new Set([
  'Page.navigate',
  'Target.createTarget',
  'Network.loadNetworkResource',
  'Fetch.continueRequest',
  'Network.continueInterceptedRequest',
]);

/** Judges one command. Pure; it never repeats a parameter's value in a message. */
export function judgeCommand(command: ClientCommand, context: GuardContext): Verdict {
  const { method, params = {} } = command;
  const domain = method.split('.')[0] ?? '';
  const refused = REFUSED.get(method) ?? REFUSED_DOMAINS.get(domain);
  if (refused !== undefined) return { kind: 'refuse', message: `${method} is refused: ${refused}` };
  if (URL_PARAMETERS.has(method) && !mayOpen(params['url'], context)) {
    return {
      kind: 'refuse',
      message: `${method} is refused: only http, https, about, data and blob URLs and pages of the session's extensions may be opened`,
    };
  }
  switch (method) {
    case 'Browser.close':
      return { kind: 'disconnect' };
    case 'Target.createBrowserContext':
      // A context with a proxy of its own would go past the egress guard.
      if (isGiven(params['proxyServer']) || isGiven(params['proxyBypassList'])) {
        return { kind: 'refuse', message: `${method} is refused: a context cannot have a proxy of its own` };
      }
      return { kind: 'forward', command };
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
    message: `${method} is refused: paths of the host cannot be read; send the content instead`,
  };
}

function mayOpen(text: unknown, context: GuardContext): boolean {
  // Empty means about:blank, and what is no URL is refused by the browser.
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
