import type { Protocol } from 'devtools-protocol';
import type { CdpCommand, CdpConnection, CdpParams } from '../../cdp/connection.ts';
import { CdpError } from '../../cdp/connection.ts';
import { INTERNAL_WORLD } from '../../cdp/messages.ts';
import { CAPTCHA_SCRIPT } from './captcha.ts';
import { interactionScript } from './interaction.ts';
import { NETWORK_BUFFERS } from './network.ts';
import type { PastEvent } from './page-life.ts';

/** What a monitor takes from the browser. */
export interface MonitorOptions extends PageScriptOptions {
  console: boolean;
  network: boolean;
  page: boolean;
}

/** Kinds of targets that the browser itself brings. */
const WATCHED = [{ type: 'page' }, { type: 'service_worker' }, { type: 'shared_worker' }, { type: 'background_page' }];
/** Kinds of targets below a page: frames in processes of their own, and its workers. */
const BELOW_PAGES = [{ type: 'iframe' }, { type: 'worker' }];
const FOLLOW = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true };

/** A step of setting a session up: a command, and its name for the event that says it failed. */
type Step = (send: Send) => Promise<unknown>;
type Send = <M extends CdpCommand>(method: M, params?: CdpParams<M>) => Promise<unknown>;

/** A session on the browser itself that brings sessions on all its pages, now and later. */
export async function attachToBrowser(cdp: CdpConnection): Promise<string> {
  const { sessionId } = await cdp.send('Target.attachToBrowserTarget');
  return sessionId;
}

/** Lets sessions on pages come. Those of pages that are there have come when it resolves. */
export async function followPages(cdp: CdpConnection, root: string): Promise<void> {
  await cdp.send('Target.setAutoAttach', { ...FOLLOW, filter: WATCHED }, root);
}

/**
 * Makes a target tell what is wanted, and bring the frames below it; resolves when it does. All commands go out at once;
 * calls back with the name of each that the browser refused. Commands to a target that has gone are nobody's fault.
 * `binding` names the function by which scripts in its frames tell what they see.
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
      (send) => send('Target.setAutoAttach', { ...FOLLOW, filter: BELOW_PAGES }),
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

/** What has happened to the document of a page before now: a session that asks for such events is told past ones at once. */
export async function pastOf(
  cdp: CdpConnection,
  sessionId: string,
  { id, loaderId }: Protocol.Page.Frame,
): Promise<PastEvent[]> {
  const past: PastEvent[] = [];
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
 * Gives the scripts of a target their function again. Chromium forgets it when a document comes up in another process, unless
 * `Runtime` is enabled; and that a page can notice.
 */
export function renewBinding(cdp: CdpConnection, sessionId: string, wanted: MonitorOptions, binding: string): void {
  if (!wanted.interaction && !wanted.captcha) return;
  // A target that has gone meanwhile has nothing to tell.
  cdp.send('Runtime.addBinding', bindingOf(binding), sessionId).catch(() => undefined);
}

function bindingOf(name: string): CdpParams<'Runtime.addBinding'> {
  return { name, executionContextName: INTERNAL_WORLD };
}

/** What of a page only a script in it can see. */
export interface PageScriptOptions {
  interaction: boolean;
  captcha: boolean;
  /** Whether what is typed may be told. */
  typed: boolean;
}

/**
 * The script for each frame, or null where none is needed. `binding` is the function by which it tells. A document that has
 * changed its process gets that function a moment after the script has begun: until then it keeps what it has to say. Such a
 * document may be given the script twice, as it begins and as one that is there: the second does nothing.
 */
export function pageScript(binding: string, wanted: PageScriptOptions): string | null {
  const parts = [
    ...(wanted.interaction ? [interactionScript(wanted.typed)] : []),
    ...(wanted.captcha ? [CAPTCHA_SCRIPT] : []),
  ];
  if (parts.length === 0) return null;
  return String.raw`(() => {
  const begun = Symbol.for('${binding}');
  if (globalThis[begun]) return;
  globalThis[begun] = true;
  const RETRY_MS = 50;
  const MAX_KEPT = 100;
  const kept = [];
  let retry = 0;
  const flush = () => {
    const send = globalThis.${binding};
    clearTimeout(retry);
    if (send === undefined) retry = setTimeout(flush, RETRY_MS);
    else for (const said of kept.splice(0)) send(said);
  };
  const tell = (said) => {
    if (kept.length === MAX_KEPT) kept.shift();
    kept.push(JSON.stringify(said));
    flush();
  };
${parts.join('\n')}
})();`;
}
