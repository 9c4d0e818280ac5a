import type { CdpCommandMethod } from '../../contract/telemetry-commands.ts';
import type {
  CaptchaType,
  EventSource,
  TelemetryEventData,
  TelemetryEventType,
} from '../../contract/telemetry-events.ts';
import { categoryOf } from '../../contract/telemetry-events.ts';
import type { TelemetrySelection } from '../../contract/telemetry-selection.ts';
import { TELEMETRY_STRING_BYTES, type EventCategory, type TelemetryCategory } from '../../contract/telemetry.ts';
import { createEventLog, type EventLog } from './event-log.ts';
import { redactTyped } from './redact.ts';
import { truncateData } from './truncate.ts';

/** Categories captured by the monitor, which runs (and emits its own events) only while one of them is selected. */
const MONITORED_CATEGORIES = ['console', 'network', 'page', 'interaction'] as const;

/** Events that must not be truncated: a partial image is useless. */
const NEVER_TRUNCATED: ReadonlySet<TelemetryEventType> = new Set(['monitor_screenshot']);

/** The telemetry of a session: what it captures, and the captured events. */
export interface SessionTelemetry {
  log: EventLog;
  /** True if a person's secrets are typed into the session: no event may contain what is typed, whatever is selected. */
  private: boolean;
  selection(): TelemetrySelection | null;
  /** Changes what is captured; resolves once all listeners have adapted. */
  select(selection: TelemetrySelection | null): Promise<void>;
  captures(category: EventCategory): boolean;
  /** Client commands that are not recorded. */
  excluded(): ReadonlySet<CdpCommandMethod>;
  exclude(methods: ReadonlySet<CdpCommandMethod>): void;
  /** Records an event if its category is captured. `truncated`: its data was already truncated by the caller. */
  emit<T extends TelemetryEventType>(
    type: T,
    source: EventSource,
    data: TelemetryEventData<T>,
    truncated?: boolean,
  ): void;
  /** The id of the only visible captcha challenge of a type; undefined if there is none, or several. */
  visibleChallengeId(type: CaptchaType): string | undefined;
  /**
   * Sets the function that finds visible challenges; returns the function that unsets it. Telemetry outlives the session and
   * must not retain the finder, which references the browser.
   */
  setChallengeFinder(find: (type: CaptchaType) => string | undefined): () => void;
  /** Calls back after each change of the selection; returns the unsubscribe function. */
  onSelect(listener: () => Promise<void>): () => void;
}

interface SessionTelemetryOptions {
  selection: TelemetrySelection | null;
  excluded?: ReadonlySet<CdpCommandMethod> | undefined;
  private: boolean;
  /** In epoch milliseconds. */
  clock?: () => number;
}

/** Creates the telemetry of a session. */
export function createSessionTelemetry(options: SessionTelemetryOptions): SessionTelemetry {
  const { clock = Date.now } = options;
  const log = createEventLog();
  const listeners = new Set<() => Promise<void>>();
  const permitted = (selection: TelemetrySelection | null): TelemetrySelection | null => {
    if (!options.private || selection === null) return selection;
    // Screenshots show what a person types.
    const remaining = [...selection].filter((category) => category !== 'screenshot');
    return remaining.length === 0 ? null : new Set(remaining);
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
      // Timestamps of a session are strictly increasing.
      lastTs = Math.max(clock() * 1000, lastTs + 1);
      const data: unknown = options.private ? redactTyped(type, given) : given;
      const event = {
        ts: lastTs,
        type,
        category,
        source,
        ...(data === undefined ? {} : { data }),
        ...(truncated ? { truncated } : {}),
      };
      const json = JSON.stringify(event);
      // Most events are small, so no string in them can be too long.
      if (json.length * 3 <= TELEMETRY_STRING_BYTES || NEVER_TRUNCATED.has(type)) {
        log.append(lastTs, category, type, json);
        return;
      }
      const cut = truncateData(data);
      const bounded = cut.truncated ? JSON.stringify({ ...event, data: cut.data, truncated: true }) : json;
      log.append(lastTs, category, type, bounded);
    },
    visibleChallengeId: (type) => findChallenge?.(type),
    setChallengeFinder: (find) => {
      findChallenge = find;
      return () => {
        // A newer monitor may have set its own.
        if (findChallenge === find) findChallenge = null;
      };
    },
    onSelect: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
