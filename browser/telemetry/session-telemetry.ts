import type { CdpCommandMethod } from '../../contract/telemetry-commands.ts';
import type {
  CaptchaType,
  EventSource,
  TelemetryEventData,
  TelemetryEventType,
} from '../../contract/telemetry-events.ts';
import { categoryOf } from '../../contract/telemetry-events.ts';
import type { TelemetrySelection } from '../../contract/telemetry-selection.ts';
import type { EventCategory, TelemetryCategory } from '../../contract/telemetry.ts';
import { TELEMETRY_STRING_BYTES } from '../../contract/telemetry.ts';
import { truncateData } from './cut.ts';
import type { EventLog } from './event-log.ts';
import { createEventLog } from './event-log.ts';
import { withoutTyped } from './without-typed.ts';

/** Categories that a monitor of our own takes from the browser; it runs, and tells how it fares, only while one is captured. */
const MONITORED_CATEGORIES = ['console', 'network', 'page', 'interaction'] as const;

/** Data that is text of one known kind and size, and must not be cut: a picture is useless in part. */
const WHOLE: ReadonlySet<TelemetryEventType> = new Set(['monitor_screenshot']);

/** What one session captures, and what it has captured. */
export interface SessionTelemetry {
  log: EventLog;
  /**
   * True in a session that a person's secrets are typed into: no event may carry what is typed, whatever is selected.
   */
  private: boolean;
  selection(): TelemetrySelection | null;
  /** Changes what is captured from now on; resolves once all who capture have adapted to it. */
  select(selection: TelemetrySelection | null): Promise<void>;
  captures(category: EventCategory): boolean;
  /** Commands of clients that are not told. */
  excluded(): ReadonlySet<CdpCommandMethod>;
  exclude(methods: ReadonlySet<CdpCommandMethod>): void;
  /**
   * Notes an event, if its category is captured. Never throws and never waits. `truncated` when its data was cut before
   * it came here.
   */
  emit<T extends TelemetryEventType>(
    type: T,
    source: EventSource,
    data: TelemetryEventData<T>,
    truncated?: boolean,
  ): void;
  /** The id of the challenge of a kind that can be seen; undefined where none, or several, can. */
  challengeOf(type: CaptchaType): string | undefined;
  /**
   * From now on challenges are found so, until the answer is called: whoever finds them holds the browser, and this outlives
   * its session.
   */
  findChallenges(find: (type: CaptchaType) => string | undefined): () => void;
  /** Calls back after each change of the selection; the answer ends that. */
  onSelect(listener: () => Promise<void>): () => void;
}

/** What {@link createSessionTelemetry} is given. */
export interface SessionTelemetryOptions {
  selection: TelemetrySelection | null;
  excluded?: ReadonlySet<CdpCommandMethod> | undefined;
  private: boolean;
  /** Unix milliseconds. */
  clock?: () => number;
}

export function createSessionTelemetry(options: SessionTelemetryOptions): SessionTelemetry {
  const { clock = Date.now } = options;
  const log = createEventLog();
  const listeners = new Set<() => Promise<void>>();
  const permitted = (selection: TelemetrySelection | null): TelemetrySelection | null => {
    if (!options.private || selection === null) return selection;
    // Pictures show what a person types.
    const left = [...selection].filter((category) => category !== 'screenshot');
    return left.length === 0 ? null : new Set(left);
  };
  let selected = permitted(options.selection);
  let excluded = options.excluded ?? new Set<CdpCommandMethod>();
  let lastTs = 0;
  let findChallenge: ((type: CaptchaType) => string | undefined) | null = null;

  const captures = (category: EventCategory): boolean => {
    if (selected === null) return false;
    if (category === 'monitor') return MONITORED_CATEGORIES.some((monitored) => selected?.has(monitored) === true);
    return selected.has(category satisfies TelemetryCategory);
  };

  return {
    log,
    private: options.private,
    selection: () => selected,
    select: async (selection) => {
      selected = permitted(selection);
      await Promise.all([...listeners].map((listener) => listener()));
    },
    captures,
    excluded: () => excluded,
    exclude: (methods) => {
      excluded = methods;
    },
    emit: (type, source, given, truncated = false) => {
      const category = categoryOf(type);
      if (!captures(category)) return;
      // Times of one session never go back, and no two events share one.
      lastTs = Math.max(clock() * 1000, lastTs + 1);
      const data: unknown = options.private ? withoutTyped(type, given) : given;
      const event = {
        ts: lastTs,
        type,
        category,
        source,
        ...(data === undefined ? {} : { data }),
        ...(truncated ? { truncated } : {}),
      };
      const json = JSON.stringify(event);
      // Most events are small: no string in them can be too long.
      if (json.length * 3 <= TELEMETRY_STRING_BYTES || WHOLE.has(type)) {
        log.append(lastTs, category, type, json);
        return;
      }
      const cut = truncateData(data);
      const whole = cut.truncated ? JSON.stringify({ ...event, data: cut.data, truncated: true }) : json;
      log.append(lastTs, category, type, whole);
    },
    challengeOf: (type) => findChallenge?.(type),
    findChallenges: (find) => {
      findChallenge = find;
      return () => {
        // Another monitor may find them by now.
        if (findChallenge === find) findChallenge = null;
      };
    },
    onSelect: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
