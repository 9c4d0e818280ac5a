import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { CallError } from '../calls/call.ts';
import { callEvents } from '../calls/events.ts';
import { formatClock, formatNumber, formatTime } from '../words/format.ts';
import { fill, inLanguage } from '../words/language.ts';
import { Section } from './page.tsx';

const words = inLanguage({
  en: { lost: 'Connection lost; reconnecting.', cut: 'Only the last {count} lines are shown.' },
  de: {
    lost: 'Die Verbindung ging verloren; sie wird neu geöffnet.',
    cut: 'Nur die letzten {count} Zeilen werden gezeigt.',
  },
});

/** Maximum lines shown; older ones are dropped. */
const SHOWN_LINES = 2000;
/** Batching of lines before they are rendered, and delay before a lost stream is reopened, in milliseconds. */
const GATHER_MS = 100;
const RETRY_MS = 3000;

/** Common shape of the events; only `log` events have a message. */
interface StreamEvent {
  event: string;
  timestamp: string;
  message: string;
}

interface Line {
  key: number;
  at: string;
  message: string;
}

/** A live log. */
export function EventLog({
  title,
  stream,
  resource = null,
  empty,
  actions,
}: {
  title: string;
  /** Path of the event stream, which starts from the beginning. */
  stream: string;
  /** Path of the resource to refetch when an event reports a new state. */
  resource?: string | null;
  /** Shown if there are no lines. */
  empty: string;
  actions?: ReactNode;
}): ReactNode {
  const { lines, count, isLost } = useEventLog(stream, resource);
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    if (box.current !== null && follows.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  return (
    <Section title={title} actions={actions}>
      {isLost ? <p role="status">{words.lost}</p> : null}
      {count > lines.length ? <p className="muted">{fill(words.cut, { count: formatNumber(SHOWN_LINES) })}</p> : null}
      {lines.length === 0 ? (
        <p className="muted">{empty}</p>
      ) : (
        <div
          ref={box}
          className="log"
          role="log"
          aria-label={title}
          tabIndex={0}
          onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
            follows.current = scrollHeight - scrollTop - clientHeight < 40;
          }}
        >
          {lines.map(({ key, at, message }) => (
            <p key={key}>
              <time dateTime={at} title={formatTime(at)}>
                {formatClock(at)}
              </time>{' '}
              {message}
            </p>
          ))}
        </div>
      )}
    </Section>
  );
}

/** Lines of an event stream, which is reopened if it is lost. */
function useEventLog(
  path: string,
  resource: string | null,
): { lines: readonly Line[]; count: number; isLost: boolean } {
  const client = useQueryClient();
  const [lines, setLines] = useState<readonly Line[]>([]);
  const [count, setCount] = useState(0);
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    const unmounted = new AbortController();
    let received: Line[] = [];
    let total = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      timer = undefined;
      received = received.slice(-SHOWN_LINES);
      setLines([...received]);
      setCount(total);
    };
    const follow = async (): Promise<void> => {
      // Every stream starts from the beginning.
      [received, total] = [[], 0];
      show();
      for await (const { data } of callEvents(path, unmounted.signal)) {
        setLost(false);
        const { event: kind, timestamp: at, message } = JSON.parse(data) as StreamEvent;
        if (kind === 'error') throw new Error('The stream failed');
        if (kind.endsWith('_state') && resource !== null) await client.invalidateQueries({ queryKey: [resource] });
        if (kind !== 'log') continue;
        received.push({ at, message, key: total });
        total += 1;
        timer ??= setTimeout(show, GATHER_MS);
      }
    };
    const keepFollowing = (): void => {
      follow().catch((error: unknown) => {
        const isRefused = error instanceof CallError && error.status >= 400 && error.status < 500;
        if (unmounted.signal.aborted || isRefused) return;
        setLost(true);
        setTimeout(() => {
          if (!unmounted.signal.aborted) keepFollowing();
        }, RETRY_MS);
      });
    };
    keepFollowing();
    return () => {
      unmounted.abort();
      clearTimeout(timer);
    };
  }, [client, path, resource]);
  return { lines, count, isLost };
}
