import { useQueryClient } from '@tanstack/react-query';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { CallError, callStream } from '../calls/call.ts';
import { formatClock, formatNumber, formatTime } from '../words/format.ts';
import { fill, inLanguage } from '../words/language.ts';
import { Section } from './page.tsx';

const words = inLanguage({
  en: {
    lost: 'Connection lost; reconnecting.',
    cut: 'Only the last {count} lines are shown.',
  },
  de: {
    lost: 'Die Verbindung ging verloren; sie wird neu geöffnet.',
    cut: 'Nur die letzten {count} Zeilen werden gezeigt.',
  },
});

/** Most lines that are shown; older ones go. */
const SHOWN_LINES = 2000;
/** How long lines are gathered before they are shown, and how long a lost stream rests, in milliseconds. */
const GATHER_MS = 100;
const RETRY_MS = 3000;

/** What events of these streams have in common; lines alone have a message. */
interface Told {
  event: string;
  timestamp: string;
  message: string;
}

interface Line {
  key: number;
  at: string;
  message: string;
}

/** What something says, as it says it. */
export function EventLog({
  title,
  stream,
  resource = null,
  empty,
  actions,
}: {
  title: string;
  /** Path of the operation whose events tell it from the beginning. */
  stream: string;
  /** Path of the resource that is read again whenever an event tells a new state. */
  resource?: string | null;
  /** What stands here instead of lines. */
  empty: string;
  actions?: ReactNode;
}): ReactNode {
  const { lines, count, isLost } = useEventLog(stream, resource);
  const place = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    if (place.current !== null && follows.current) place.current.scrollTop = place.current.scrollHeight;
  }, [lines]);
  return (
    <Section title={title} actions={actions}>
      {isLost ? <p role="status">{words.lost}</p> : null}
      {count > lines.length ? <p className="muted">{fill(words.cut, { count: formatNumber(SHOWN_LINES) })}</p> : null}
      {lines.length === 0 ? (
        <p className="muted">{empty}</p>
      ) : (
        <div
          ref={place}
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

/** The lines of a stream, which is opened again where it is lost before its end. */
function useEventLog(
  path: string,
  resource: string | null,
): { lines: readonly Line[]; count: number; isLost: boolean } {
  const client = useQueryClient();
  const [lines, setLines] = useState<readonly Line[]>([]);
  const [count, setCount] = useState(0);
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    const leaving = new AbortController();
    let said: Line[] = [];
    let total = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      timer = undefined;
      said = said.slice(-SHOWN_LINES);
      setLines([...said]);
      setCount(total);
    };
    const follow = async (): Promise<void> => {
      // Every stream tells all from the beginning.
      [said, total] = [[], 0];
      show();
      const stream = await callStream(path, leaving.signal);
      const events = stream.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      const reader = events.getReader();
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        setLost(false);
        const { event: kind, timestamp: at, message } = JSON.parse(next.value.data) as Told;
        if (kind === 'error') throw new Error('The stream failed');
        if (kind.endsWith('_state') && resource !== null) await client.invalidateQueries({ queryKey: [resource] });
        if (kind !== 'log') continue;
        said.push({ at, message, key: total });
        total += 1;
        timer ??= setTimeout(show, GATHER_MS);
      }
    };
    const keepFollowing = (): void => {
      follow().catch((error: unknown) => {
        const isRefused = error instanceof CallError && error.status >= 400 && error.status < 500;
        if (leaving.signal.aborted || isRefused) return;
        setLost(true);
        setTimeout(() => {
          if (!leaving.signal.aborted) keepFollowing();
        }, RETRY_MS);
      });
    };
    keepFollowing();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [client, path, resource]);
  return { lines, count, isLost };
}
