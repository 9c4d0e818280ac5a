import type { ReactNode } from 'react';
import type { TimelineEvent } from '../../contract/connections.ts';
import { connectionTables, connectionWords as words } from '../words/connections.ts';
import { formatTime } from '../words/format.ts';

const LANES = ['login', 'reauth', 'health_check'] as const;
const FAILED = new Set(['FAILED', 'EXPIRED', 'NEEDS_AUTH']);

/**
 * Events over time, one lane per type: dots for successes and crosses for failures, so that color is not needed to tell them
 * apart. The list below has the same information.
 */
export function TimelineChart({ events }: { events: readonly TimelineEvent[] }): ReactNode {
  const times = events.map(({ timestamp }) => Date.parse(timestamp));
  const first = Math.min(...times);
  const span = Math.max(...times) - first || 1;
  const percentOf = (timestamp: string): number => 1 + ((Date.parse(timestamp) - first) / span) * 98;
  return (
    <figure className="timeline-picture">
      {LANES.map((lane) => (
        <div key={lane} className="lane">
          <span>{connectionTables.types[lane]}</span>
          <svg aria-hidden="true">
            <line x1="0" x2="100%" y1="50%" y2="50%" className="lane-line" />
            {events
              .filter(({ type }) => type === lane)
              .map(({ id, status, timestamp }) => (
                <svg key={id} x={`${percentOf(timestamp)}%`} y="50%" overflow="visible">
                  {FAILED.has(status) ? (
                    <path d="M-5 -5L5 5M5 -5L-5 5" className="mark-bad" />
                  ) : (
                    <circle r="5" className={status === 'IN_PROGRESS' ? 'mark-wait' : 'mark-good'} />
                  )}
                </svg>
              ))}
          </svg>
        </div>
      ))}
      <figcaption>
        <span>{formatTime(new Date(first).toISOString())}</span>
        <span className="visually-hidden">{words.picture}</span>
        <span>{formatTime(new Date(first + span).toISOString())}</span>
      </figcaption>
    </figure>
  );
}
