import type { Protocol } from 'devtools-protocol';
import { placeOf, type EmitFromBrowser, type WatchedTarget } from './target.ts';

/** A layout is settled after this long without shifts since the load event, in milliseconds. */
const SETTLE_MS = 1000;

/** Load progress of a page's current document. */
interface Progress {
  contentLoaded: boolean;
  loaded: boolean;
  settled: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** A lifecycle event of a document. */
export type LifecycleEvent = Pick<Protocol.Page.LifecycleEventEvent, 'name' | 'timestamp'>;

/** Emits how pages open, navigate and load. */
interface PageWatch {
  opened(targetInfo: Protocol.Target.TargetInfo): void;
  navigated(target: WatchedTarget, frame: Protocol.Page.Frame): void;
  /** A document that loaded before its target was watched; some of its `past` events may have been emitted already. */
  foundDocument(target: WatchedTarget, frame: Protocol.Page.Frame, past: readonly LifecycleEvent[]): void;
  contentLoaded(target: WatchedTarget, timestamp: number): void;
  loaded(target: WatchedTarget, timestamp: number): void;
  painted(target: WatchedTarget, event: Protocol.PerformanceTimeline.TimelineEvent): void;
  /** The renderer has crashed, but not the browser. */
  crashed(target: WatchedTarget): void;
  detached(target: WatchedTarget): void;
  stop(): void;
}

/** Creates the page watch of a monitor. */
export function createPageWatch(emit: EmitFromBrowser): PageWatch {
  const pages = new Map<WatchedTarget, Progress>();
  const progressOf = (target: WatchedTarget): Progress => {
    const known = pages.get(target);
    if (known !== undefined) return known;
    const progress: Progress = { contentLoaded: false, loaded: false, settled: false, timer: undefined };
    pages.set(target, progress);
    return progress;
  };
  const forget = (target: WatchedTarget): void => {
    clearTimeout(pages.get(target)?.timer);
    pages.delete(target);
  };
  const waitUntilSettled = (target: WatchedTarget): void => {
    const progress = progressOf(target);
    if (!progress.loaded || progress.settled) return;
    clearTimeout(progress.timer);
    progress.timer = setTimeout(() => {
      progress.settled = true;
      emit('page_layout_settled', 'Page.loadEventFired', placeOf(target));
      if (progress.contentLoaded) emit('page_navigation_settled', 'Page.loadEventFired', placeOf(target));
    }, SETTLE_MS);
    progress.timer.unref();
  };

  const emitNavigation = (target: WatchedTarget, frame: Protocol.Page.Frame): void => {
    const { nav_seq: _, ...place } = placeOf(target, { frameId: frame.id, url: frame.url });
    emit('page_navigation', 'Page.frameNavigated', {
      ...place,
      loader_id: frame.loaderId,
      ...(frame.parentId === undefined ? {} : { parent_frame_id: frame.parentId }),
    });
  };
  const contentLoaded = (target: WatchedTarget, timestamp: number): void => {
    if (!target.top) return;
    progressOf(target).contentLoaded = true;
    emit('page_dom_content_loaded', 'Page.domContentEventFired', { ...placeOf(target), cdp_timestamp: timestamp });
  };
  const loaded = (target: WatchedTarget, timestamp: number): void => {
    if (!target.top) return;
    progressOf(target).loaded = true;
    emit('page_load', 'Page.loadEventFired', { ...placeOf(target), cdp_timestamp: timestamp });
    waitUntilSettled(target);
  };

  return {
    contentLoaded,
    loaded,
    opened: ({ targetId, type, url, title, openerId }) => {
      emit('page_tab_opened', 'Target.attachedToTarget', {
        target_id: targetId,
        target_type: type === 'page' ? 'page' : 'other',
        url,
        title,
        ...(openerId === undefined ? {} : { opener_id: openerId }),
      });
    },
    navigated: (target, frame) => {
      if (target.top && frame.parentId === undefined) forget(target);
      emitNavigation(target, frame);
    },
    foundDocument: (target, frame, past) => {
      emitNavigation(target, frame);
      for (const { name, timestamp } of past) {
        if (name === 'DOMContentLoaded' && !progressOf(target).contentLoaded) contentLoaded(target, timestamp);
        if (name === 'load' && !progressOf(target).loaded) loaded(target, timestamp);
      }
    },
    painted: (target, { type, frameId, time, duration, lcpDetails: lcp, layoutShiftDetails: shift }) => {
      const common = { ...placeOf(target), source_frame_id: frameId, time: time * 1000 };
      if (type === 'largest-contentful-paint' && lcp !== undefined) {
        const details = {
          render_time: lcp.renderTime * 1000,
          load_time: lcp.loadTime * 1000,
          size: lcp.size,
          ...(lcp.elementId === undefined ? {} : { element_id: lcp.elementId }),
          ...(lcp.nodeId === undefined ? {} : { node_id: lcp.nodeId }),
          ...(lcp.url === undefined ? {} : { url: lcp.url }),
        };
        emit('page_lcp', 'PerformanceTimeline.timelineEventAdded', { ...common, lcp_details: details });
      }
      if (type === 'layout-shift' && shift !== undefined) {
        const details = { value: shift.value, had_recent_input: shift.hadRecentInput };
        const data = { ...common, duration: (duration ?? 0) * 1000, layout_shift_details: details };
        emit('page_layout_shift', 'PerformanceTimeline.timelineEventAdded', data);
        waitUntilSettled(target);
      }
    },
    crashed: (target) => {
      if (!target.top) return;
      const { targetId: target_id, type: target_type, url } = target;
      emit('page_crashed', 'Inspector.targetCrashed', { target_id, target_type, url });
    },
    detached: forget,
    stop: () => {
      for (const target of pages.keys()) forget(target);
    },
  };
}
