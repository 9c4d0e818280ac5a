import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import type { TimelineEvent } from '../../contract/connections.ts';
import { callList } from '../calls/call.ts';
import { Badge, When } from '../parts/when.tsx';
import { Section } from '../parts/page.tsx';
import { Failed, Loading } from '../parts/states.tsx';
import { Button } from '../parts/button.tsx';
import { connectionTables, connectionWords as words } from '../words/connections.ts';
import { loginFailureText } from '../words/login-failures.ts';
import { fill } from '../words/language.ts';
import { FlowSteps, useFlowTime } from './flow-steps.tsx';
import { Replay } from './replay.tsx';
import { TimelineChart } from './timeline-chart.tsx';

const PAGE_SIZE = 30;

/** What happened to a connection: a picture over time, then event by event with what it found. */
export function Timeline({
  connectionId,
  liveViewUrl,
}: {
  connectionId: string;
  /** Where the browser of the login that runs can be watched. */
  liveViewUrl: string | null;
}): ReactNode {
  const path = `/auth/connections/${connectionId}`;
  const read = useInfiniteQuery({
    queryKey: [path, 'timeline'],
    queryFn: ({ pageParam }) => callList<TimelineEvent>(`${path}/timeline`, { limit: PAGE_SIZE, offset: pageParam }),
    initialPageParam: 0,
    getNextPageParam: ({ nextOffset }) => nextOffset,
    refetchInterval: 15_000,
  });
  if (read.isPending) return <Loading />;
  if (read.isError) return <Failed error={read.error} retry={() => void read.refetch()} />;
  const events = read.data.pages.flatMap(({ rows }) => rows);
  return (
    <Section title={words.timeline}>
      {events.length === 0 ? <p className="muted">{words.timelineEmptyText}</p> : null}
      {events.length > 1 ? <TimelineChart events={events} /> : null}
      <ol className="timeline">
        {events.map((event) => (
          <TimelineEntry
            key={event.id}
            event={event}
            liveViewUrl={event.status === 'IN_PROGRESS' ? liveViewUrl : null}
          />
        ))}
      </ol>
      {read.hasNextPage ? <Button onPress={() => void read.fetchNextPage()}>…</Button> : null}
    </Section>
  );
}

function TimelineEntry({ event, liveViewUrl }: { event: TimelineEvent; liveViewUrl: string | null }): ReactNode {
  const time = useFlowTime(event);
  const failure =
    event.type === 'health_check' && event.error_code === 'session_expired'
      ? words.sessionEnded
      : loginFailureText(event.error_code, event.error_message);
  return (
    <li>
      <div className="timeline-head">
        <strong>{connectionTables.types[event.type]}</strong>
        <Badge tone={toneOf(event)}>{words.statuses[event.status]}</Badge>
        <span className="muted">
          <When at={event.timestamp} />
          {time === null ? null : ` · ${time}`}
          {event.check === undefined
            ? null
            : ` · ${event.check.method === 'request' ? words.byRequest : words.byBrowser}`}
        </span>
      </div>
      {event.type === 'health_check' ? null : <FlowSteps event={event} />}
      {failure === null ? null : <p>{failure}</p>}
      {event.website_error === undefined ? null : (
        <p>
          {words.siteSays}: <q>{event.website_error}</q>
        </p>
      )}
      {event.evidence === undefined ? null : (
        <details>
          <summary>{words.evidence}</summary>
          <p className="evidence">{event.evidence}</p>
        </details>
      )}
      {liveViewUrl === null ? null : (
        <a className="button button-plain" href={liveViewUrl} target="_blank" rel="noopener noreferrer">
          {words.liveView} <span aria-hidden="true">↗</span>
        </a>
      )}
      {event.replay_id === undefined || event.browser_session_id === undefined ? null : (
        <Replay sessionId={event.browser_session_id} replayId={event.replay_id} />
      )}
      {event.replay_error === undefined ? null : (
        <p className="muted">{fill(words.noReplay, { reason: event.replay_error })}</p>
      )}
    </li>
  );
}

/** How an event ended, as a tone. */
export function toneOf({ status }: TimelineEvent): 'good' | 'bad' | 'wait' | 'idle' {
  switch (status) {
    case 'SUCCESS':
    case 'AUTHENTICATED':
      return 'good';
    case 'FAILED':
    case 'EXPIRED':
    case 'NEEDS_AUTH':
      return 'bad';
    case 'IN_PROGRESS':
      return 'wait';
    case 'CANCELED':
      return 'idle';
  }
}
