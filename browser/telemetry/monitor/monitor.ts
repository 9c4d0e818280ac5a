import { randomBytes } from 'node:crypto';
import type { Protocol } from 'devtools-protocol';
import type { CdpEvent } from '../../cdp/connection.ts';
import type { Chromium } from '../../chromium/launch.ts';
import { INTERNAL_TARGET_URL } from '../../chromium/pages.ts';
import type { SessionTelemetry } from '../session-telemetry.ts';
import type { MonitorOptions } from './attach.ts';
import { enableTarget, followPages, pastLifecycleEvents, renewBinding } from './attach.ts';
import { CaptchaReport, createCaptchaWatch } from './captcha.ts';
import { reportConsoleCall, reportException } from './console.ts';
import { reportInteraction } from './interaction.ts';
import { createNetworkWatch } from './network.ts';
import { createPageWatch } from './page-lifecycle.ts';
import { targetTypeOf, type EmitFromBrowser, type WatchedTarget } from './target.ts';

/** A running monitor. */
export interface Monitor {
  /** Resolves once all pages are watched; rejects if the browser refuses. */
  ready: Promise<void>;
  /** Calls back if the browser detaches the monitor's session. */
  onLost(listener: () => void): void;
  stop(): void;
}

/**
 * Watches all pages of a browser through its own CDP sessions, so that nothing it enables affects clients or the service.
 * Stopping it leaves nothing behind in the browser.
 */
export function runMonitor(
  chromium: Pick<Chromium, 'cdp' | 'pages'>,
  telemetry: SessionTelemetry,
  wanted: MonitorOptions,
): Monitor {
  const { cdp } = chromium;
  const startedAt = Date.now();
  const emit: EmitFromBrowser = (type, event, data, truncated) => {
    telemetry.emit(type, { kind: 'cdp', event }, data, truncated);
  };
  const network = createNetworkWatch(cdp, emit, wanted.typed);
  const pages = createPageWatch(emit);
  const captchas = createCaptchaWatch(emit);
  /** Unique, so that scripts of an earlier monitor do not report to this one. */
  const binding = `holdfast_${randomBytes(6).toString('hex')}`;
  const targets = new Map<string, WatchedTarget>();
  const subscriptions: (() => void)[] = [];
  /** By target id: a new page is resumed once its latch opens, so that it is watched from its first document on. */
  const prepared = new Map<string, Latch>();
  const preparedLatch = (targetId: string): Latch => {
    const latch = prepared.get(targetId) ?? createLatch();
    prepared.set(targetId, latch);
    return latch;
  };
  let root: string | null = null;
  let stopped = false;
  /** Pages attached after the existing ones are new. */
  let initialPagesAttached = false;
  let notifyLost: () => void = () => undefined;

  const stop = (): void => {
    if (stopped) return;
    stopped = true;
    for (const end of subscriptions) end();
    for (const latch of prepared.values()) latch.open();
    network.stop();
    pages.stop();
    captchas.stop();
    // This ends its sessions on pages too.
    if (root !== null) void cdp.send('Target.detachFromTarget', { sessionId: root }).catch(() => undefined);
  };
  /** Handles a document that was committed before its target was watched, as its events would have been. */
  const catchUp = async (target: WatchedTarget, isNew: boolean): Promise<void> => {
    const { sessionId, loaderId } = target;
    const { frame } = (await cdp.send('Page.getFrameTree', undefined, sessionId)).frameTree;
    const past = await pastLifecycleEvents(cdp, sessionId, frame);
    const isWatched = !stopped && targets.has(sessionId);
    if (!isWatched || target.loaderId !== loaderId || frame.loaderId === loaderId) return;
    if (!isNew || frame.url === '' || frame.url === 'about:blank') {
      renewBinding(cdp, sessionId, wanted, binding);
      return;
    }
    updateDocument(target, frame);
    if (wanted.page) pages.foundDocument(target, frame, past);
  };
  const attached = (info: Protocol.Target.TargetInfo, sessionId: string, parent: WatchedTarget | undefined): void => {
    if (info.url.startsWith(INTERNAL_TARGET_URL)) return;
    const isDocument = info.type === 'page' || info.type === 'iframe' || info.type === 'background_page';
    const target: WatchedTarget = {
      sessionId,
      targetId: parent?.targetId ?? info.targetId,
      type: parent?.type ?? targetTypeOf(info.type),
      top: parent === undefined && isDocument,
      // The target id of a document is its frame id.
      frameId: isDocument ? info.targetId : undefined,
      loaderId: undefined,
      url: info.url,
      navSeq: 0,
    };
    targets.set(sessionId, target);
    const isNew = info.type === 'page' && initialPagesAttached;
    if (isNew && wanted.page) pages.opened(info);
    const enabled = enableTarget(cdp, sessionId, isDocument, wanted, binding, (step) => {
      if (!stopped && targets.has(sessionId)) emit('monitor_init_failed', step, { step });
    });
    if (isDocument) void enabled.then(() => catchUp(target, isNew)).catch(() => undefined);
    if (info.type === 'page') void enabled.then(preparedLatch(info.targetId).open);
  };
  const detached = (sessionId: string): void => {
    if (sessionId === root) {
      root = null;
      stop();
      notifyLost();
      return;
    }
    const target = targets.get(sessionId);
    if (target === undefined) return;
    targets.delete(sessionId);
    if (target.top) {
      prepared.get(target.targetId)?.open();
      prepared.delete(target.targetId);
    }
    network.detached(target);
    pages.detached(target);
    captchas.detached(target);
  };
  const updateDocument = (target: WatchedTarget, frame: Protocol.Page.Frame): void => {
    if (target.top && frame.parentId === undefined) target.navSeq += 1;
    if (frame.id !== target.frameId) return;
    target.loaderId = frame.loaderId;
    target.url = frame.url;
    renewBinding(cdp, target.sessionId, wanted, binding);
    captchas.navigated(target);
  };

  const pageOf = (target: WatchedTarget): WatchedTarget =>
    [...targets.values()].find(({ top, targetId }) => top && targetId === target.targetId) ?? target;

  /** Subscribes to events of the monitor's own sessions. */
  const on = <E extends CdpEvent>(
    event: E,
    listener: (target: WatchedTarget, params: Parameters<Parameters<typeof cdp.on<E>>[1]>[0]) => void,
  ): void => {
    subscriptions.push(
      cdp.on(event, (params, sessionId) => {
        const target = targets.get(sessionId ?? '');
        if (target !== undefined) listener(target, params);
      }),
    );
  };
  subscriptions.push(
    telemetry.setChallengeFinder((type) => captchas.visibleId(type)),
    chromium.pages.onNewPage((targetId) => preparedLatch(targetId).opened),
    cdp.on('Target.attachedToTarget', ({ targetInfo, sessionId }, parent) => {
      if (parent !== undefined && parent === root) attached(targetInfo, sessionId, undefined);
      else if (parent !== undefined && targets.has(parent)) attached(targetInfo, sessionId, targets.get(parent));
    }),
    cdp.on('Target.detachedFromTarget', ({ sessionId }) => detached(sessionId)),
  );
  on('Page.frameNavigated', (target, { frame }) => {
    updateDocument(target, frame);
    if (wanted.page) pages.navigated(target, frame);
  });
  if (wanted.page) {
    on('Page.domContentEventFired', (target, { timestamp }) => pages.contentLoaded(target, timestamp));
    on('Page.loadEventFired', (target, { timestamp }) => pages.loaded(target, timestamp));
    on('Inspector.targetCrashed', (target) => pages.crashed(target));
    on('PerformanceTimeline.timelineEventAdded', (target, { event }) => pages.painted(target, event));
  }
  if (wanted.network) {
    on('Network.requestWillBeSent', (target, event) => network.requested(target, event));
    on('Network.responseReceived', (target, event) => network.responded(target, event));
    on('Network.loadingFinished', (target, event) => network.finished(target, event));
    on('Network.loadingFailed', (target, event) => network.failed(target, event));
  }
  if (wanted.console) {
    on('Runtime.consoleAPICalled', (target, call) => {
      // Enabling replays earlier calls, which were not selected for capture.
      if (call.timestamp >= startedAt) reportConsoleCall(target, call, emit);
    });
    on('Runtime.exceptionThrown', (target, thrown) => {
      if (thrown.timestamp >= startedAt) reportException(target, thrown, emit);
    });
  }
  on('Runtime.bindingCalled', (target, { name, payload, executionContextId }) => {
    if (name !== binding) return;
    const report = parse(payload);
    const captcha = CaptchaReport.safeParse(report);
    if (captcha.success) captchas.reported(target, pageOf(target), executionContextId, captcha.data);
    else reportInteraction(target, report, emit);
  });

  return { ready: start(), stop, onLost: (listener) => (notifyLost = listener) };

  async function start(): Promise<void> {
    const { sessionId } = await cdp.send('Target.attachToBrowserTarget');
    root = sessionId;
    if (stopped) {
      void cdp.send('Target.detachFromTarget', { sessionId }).catch(() => undefined);
      return;
    }
    await followPages(cdp, sessionId);
    initialPagesAttached = true;
  }
}

/** Whether anything is captured that needs a monitor. */
export function needsMonitor(wanted: MonitorOptions): boolean {
  return wanted.console || wanted.network || wanted.page || wanted.interaction || wanted.captcha;
}

/** A one-time gate. */
interface Latch {
  opened: Promise<void>;
  open: () => void;
}

function createLatch(): Latch {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

function parse(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return null;
  }
}
