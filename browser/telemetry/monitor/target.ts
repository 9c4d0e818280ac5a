import type { TelemetryEventData, TelemetryEventType } from '../../../contract/telemetry-events.ts';
import { TARGET_TYPES } from '../../../contract/telemetry-events.ts';

/** A page, frame or worker that is watched, through a session of the monitor's own. */
export interface WatchedTarget {
  sessionId: string;
  /** The page it is, or belongs to; a frame in a process of its own counts as its page. */
  targetId: string;
  type: (typeof TARGET_TYPES)[number];
  /** True for the page itself: what happens to it happens to all of the tab. */
  top: boolean;
  frameId: string | undefined;
  loaderId: string | undefined;
  url: string;
  /** Top-level navigations so far. */
  navSeq: number;
}

/** Where an event happened, as events say it. */
export interface EventPlace {
  session_id: string;
  target_id: string;
  target_type: WatchedTarget['type'];
  url: string;
  nav_seq: number;
  frame_id?: string;
  loader_id?: string;
}

/** Emits an event of the browser; `event` names what it was made from. */
export type EmitFromBrowser = <T extends TelemetryEventType>(
  type: T,
  event: string,
  data: TelemetryEventData<T>,
  truncated?: boolean,
) => void;

export function placeOf(target: WatchedTarget, exact: { frameId?: string | undefined; url?: string } = {}): EventPlace {
  const frameId = exact.frameId ?? target.frameId;
  return {
    session_id: target.sessionId,
    target_id: target.targetId,
    target_type: target.type,
    url: exact.url ?? target.url,
    nav_seq: target.navSeq,
    ...(frameId === undefined ? {} : { frame_id: frameId }),
    ...(target.loaderId === undefined ? {} : { loader_id: target.loaderId }),
  };
}

export function targetTypeOf(type: string): WatchedTarget['type'] {
  return TARGET_TYPES.find((known) => known === type) ?? 'other';
}
