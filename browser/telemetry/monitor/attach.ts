import type { Protocol } from 'devtools-protocol';
import { CdpError, type CdpCommand, type CdpConnection, type CdpParams } from '../../cdp/connection.ts';
import { INTERNAL_WORLD } from '../../cdp/messages.ts';
import { CAPTCHA_SCRIPT } from './captcha.ts';
import { interactionScript } from './interaction.ts';
import { NETWORK_BUFFERS } from './network.ts';
import type { LifecycleEvent } from './page-lifecycle.ts';

/** What a monitor captures. */
export interface MonitorOptions extends PageScriptOptions {
  console: boolean;
  network: boolean;
  page: boolean;
}

/** Types of targets attached by the browser itself. */
const TOP_LEVEL_TARGETS = [
  { type: 'page' },
  { type: 'service_worker' },
  { type: 'shared_worker' },
  { type: 'background_page' },
];
/** Types of targets attached by pages: out-of-process frames and workers. */
const CHILD_TARGETS = [{ type: 'iframe' }, { type: 'worker' }];
const AUTO_ATTACH = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true };

type Step = (send: Send) => Promise<unknown>;
type Send = <M extends CdpCommand>(method: M, params?: CdpParams<M>) => Promise<unknown>;

/** Attaches to all pages from a session on the browser, now and later; resolves once existing pages are attached. */
export async function followPages(cdp: CdpConnection, root: string): Promise<void> {
  await cdp.send('Target.setAutoAttach', { ...AUTO_ATTACH, filter: TOP_LEVEL_TARGETS }, root);
}

/**
 * Enables the wanted events of a target and attaches to its children; resolves when done. All commands are sent at once, and
 * `onRefused` is called with the name of each that the browser refused; those to a closed target are ignored. `binding` is the
 * name of the function by which scripts in its frames report.
 */
export async function enableTarget(
  cdp: CdpConnection,
  sessionId: string,
  isDocument: boolean,
  wanted: MonitorOptions,
  binding: string,
  onRefused: (step: string) => void,
): Promise<void> {
  const steps: Step[] = [];
  if (isDocument) {
    steps.push(
      (send) => send('Page.enable'),
      (send) => send('Target.setAutoAttach', { ...AUTO_ATTACH, filter: CHILD_TARGETS }),
    );
    if (wanted.page) {
      const eventTypes = ['largest-contentful-paint', 'layout-shift'];
      steps.push((send) => send('PerformanceTimeline.enable', { eventTypes }));
    }
    const source = pageScript(binding, wanted);
    if (source !== null) {
      const script = { source, worldName: INTERNAL_WORLD, runImmediately: true };
      steps.push(
        (send) => send('Runtime.addBinding', bindingOf(binding)),
        (send) => send('Page.addScriptToEvaluateOnNewDocument', script),
      );
    }
  }
  if (wanted.network) steps.push((send) => send('Network.enable', NETWORK_BUFFERS));
  if (wanted.console) steps.push((send) => send('Runtime.enable'));
  const send: Send = (method, params) => cdp.send(method, params, sessionId);
  const settle = async (step: Step): Promise<void> => {
    try {
      await step(send);
    } catch (error) {
      if (error instanceof CdpError && error.reason === 'refused') onRefused(error.method);
    }
  };
  await Promise.all(steps.map(settle));
}

/** Past lifecycle events of a document, which the browser replays when lifecycle events are enabled. */
export async function pastLifecycleEvents(
  cdp: CdpConnection,
  sessionId: string,
  { id, loaderId }: Protocol.Page.Frame,
): Promise<LifecycleEvent[]> {
  const past: LifecycleEvent[] = [];
  const stop = cdp.on('Page.lifecycleEvent', (event, from) => {
    if (from === sessionId && event.frameId === id && event.loaderId === loaderId) past.push(event);
  });
  try {
    await cdp.send('Page.setLifecycleEventsEnabled', { enabled: true }, sessionId);
  } finally {
    stop();
  }
  await cdp.send('Page.setLifecycleEventsEnabled', { enabled: false }, sessionId);
  return past;
}

/**
 * Adds the binding of a target again. Chromium drops it when a document starts in another process, unless `Runtime` is enabled,
 * which a page can detect.
 */
export function renewBinding(cdp: CdpConnection, sessionId: string, wanted: MonitorOptions, binding: string): void {
  if (!wanted.interaction && !wanted.captcha) return;
  // Fails if the target has closed in the meantime.
  cdp.send('Runtime.addBinding', bindingOf(binding), sessionId).catch(() => undefined);
}

function bindingOf(name: string): CdpParams<'Runtime.addBinding'> {
  return { name, executionContextName: INTERNAL_WORLD };
}

interface PageScriptOptions {
  interaction: boolean;
  captcha: boolean;
  /** Whether typed keys and texts may be captured. */
  typed: boolean;
}

/**
 * The script for each frame, which reports through the function `binding`; null if none is needed. A document in a new process
 * gets that function shortly after the script starts, so reports are queued until then. Such a document may also run the
 * script twice, as a new and as an existing document: the second run does nothing.
 */
export function pageScript(binding: string, wanted: PageScriptOptions): string | null {
  const parts = [
    ...(wanted.interaction ? [interactionScript(wanted.typed)] : []),
    ...(wanted.captcha ? [CAPTCHA_SCRIPT] : []),
  ];
  if (parts.length === 0) return null;
  return String.raw`(() => {
  const started = Symbol.for('${binding}');
  if (globalThis[started]) return;
  globalThis[started] = true;
  const RETRY_MS = 50;
  const MAX_QUEUED = 100;
  const queue = [];
  let retry = 0;
  const flush = () => {
    const send = globalThis.${binding};
    clearTimeout(retry);
    if (send === undefined) retry = setTimeout(flush, RETRY_MS);
    else for (const item of queue.splice(0)) send(item);
  };
  const report = (data) => {
    if (queue.length === MAX_QUEUED) queue.shift();
    queue.push(JSON.stringify(data));
    flush();
  };
${parts.join('\n')}
})();`;
}
