import type { Protocol } from 'devtools-protocol';
import type { EmitFromBrowser, WatchedTarget } from './target.ts';
import { placeOf } from './target.ts';

/** A layout counts as settled when it has not shifted for this long after the load, in milliseconds. */
const SETTLE_MS = 1000;

/** How far a page's present document has come. */
interface Progress {
  contentLoaded: boolean;
  loaded: boolean;
  settled: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** What has happened to a document, as the browser names it. */
export type PastEvent = Pick<Protocol.Page.LifecycleEventEvent, 'name' | 'timestamp'>;

/** Tells how pages come and load. */
export interface PageWatch {
  opened(targetInfo: Protocol.Target.TargetInfo): void;
  navigated(target: WatchedTarget, frame: Protocol.Page.Frame): void;
  /** A document that came before anybody watched: `past` is what has happened to it, of which some may have been told. */
  arrived(target: WatchedTarget, frame: Protocol.Page.Frame, past: readonly PastEvent[]): void;
  contentLoaded(target: WatchedTarget, timestamp: number): void;
  loaded(target: WatchedTarget, timestamp: number): void;
  painted(target: WatchedTarget, event: Protocol.PerformanceTimeline.TimelineEvent): void;
  /** Its renderer has died; the browser lives on. */
  crashed(target: WatchedTarget): void;
  gone(target: WatchedTarget): void;
  stop(): void;
}

export function createPageWatch(emit: EmitFromBrowser): PageWatch {
  const pages = new Map<WatchedTarget, Progress>();
  const progressOf = (target: WatchedTarget): Progress => {
    const known = pages.get(target);
    if (known !== undefined) return known;
    const fresh: Progress = { contentLoaded: false, loaded: false, settled: false, timer: undefined };
    pages.set(target, fresh);
    return fresh;
  };
  const forget = (target: WatchedTarget): void => {
    clearTimeout(pages.get(target)?.timer);
    pages.delete(target);
  };
  const waitForRest = (target: WatchedTarget): void => {
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

  const tellNavigation = (target: WatchedTarget, frame: Protocol.Page.Frame): void => {
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
    waitForRest(target);
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
      tellNavigation(target, frame);
    },
    arrived: (target, frame, past) => {
      tellNavigation(target, frame);
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
        waitForRest(target);
      }
    },
    crashed: (target) => {
      if (!target.top) return;
      const { targetId: target_id, type: target_type, url } = target;
      emit('page_crashed', 'Inspector.targetCrashed', { target_id, target_type, url });
    },
    gone: forget,
    stop: () => {
      for (const target of pages.keys()) forget(target);
    },
  };
}
