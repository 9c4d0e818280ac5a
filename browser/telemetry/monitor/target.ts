import { TARGET_TYPES, type TelemetryEventData, type TelemetryEventType } from '../../../contract/telemetry-events.ts';

/** A page, frame or worker watched by the monitor, through its own session. */
export interface WatchedTarget {
  sessionId: string;
  /** The target id of its page; an out-of-process frame has that of its page. */
  targetId: string;
  type: (typeof TARGET_TYPES)[number];
  /** True for the page itself, whose events are those of the whole tab. */
  top: boolean;
  frameId: string | undefined;
  loaderId: string | undefined;
  url: string;
  /** Top-level navigations so far. */
  navSeq: number;
}

/** Where an event happened, as in event data. */
interface EventPlace {
  session_id: string;
  target_id: string;
  target_type: WatchedTarget['type'];
  url: string;
  nav_seq: number;
  frame_id?: string;
  loader_id?: string;
}

/** Emits a browser event; `event` is the CDP event or command it is based on. */
export type EmitFromBrowser = <T extends TelemetryEventType>(
  type: T,
  event: string,
  data: TelemetryEventData<T>,
  truncated?: boolean,
) => void;

/** The place of an event on a target, in the main frame unless `exact` says otherwise. */
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

/** The target type as in event data. */
export function targetTypeOf(type: string): WatchedTarget['type'] {
  return TARGET_TYPES.find((known) => known === type) ?? 'other';
}
