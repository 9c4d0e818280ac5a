import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { TimelineEvent } from '../../contract/connections.ts';
import { callFile, callList } from '../calls/call.ts';
import { Badge, When } from '../parts/when.tsx';
import { Section } from '../parts/page.tsx';
import { Failed, Loading } from '../parts/states.tsx';
import { Button } from '../parts/button.tsx';
import { connectionTables, connectionWords as words } from '../words/connections.ts';
import { loginFailureText } from '../words/login-failures.ts';
import { fill } from '../words/language.ts';
import { FlowSteps, useFlowTime } from './flow-steps.tsx';
import { TimelineChart } from './timeline-chart.tsx';
import { type ReactNode, useEffect, useState } from 'react';
import { DialogBox } from '../parts/dialog.tsx';

const PAGE_SIZE = 30;
const TONES = {
  SUCCESS: 'good',
  AUTHENTICATED: 'good',
  FAILED: 'bad',
  EXPIRED: 'bad',
  NEEDS_AUTH: 'bad',
  IN_PROGRESS: 'wait',
  CANCELED: 'idle',
} as const;

/** The history of a connection: a chart, then its events. */
export function Timeline({
  connectionId,
  liveViewUrl,
}: {
  connectionId: string;
  /** Live view of the running login's browser. */
  liveViewUrl: string | null;
}): ReactNode {
  const path = `/auth/connections/${connectionId}`;
  const query = useInfiniteQuery({
    queryKey: [path, 'timeline'],
    queryFn: ({ pageParam }) => callList<TimelineEvent>(`${path}/timeline`, { limit: PAGE_SIZE, offset: pageParam }),
    initialPageParam: 0,
    getNextPageParam: ({ nextOffset }) => nextOffset,
    refetchInterval: 15_000,
  });
  if (query.isPending) return <Loading />;
  if (query.isError) return <Failed error={query.error} retry={() => void query.refetch()} />;
  const events = query.data.pages.flatMap(({ rows }) => rows);
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
      {query.hasNextPage ? <Button onPress={() => void query.fetchNextPage()}>…</Button> : null}
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
        <Badge tone={TONES[event.status]}>{words.statuses[event.status]}</Badge>
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

/** Plays the recording of a login. It is fetched with the session, so its address cannot be shared. */
function Replay({ sessionId, replayId }: { sessionId: string; replayId: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onPress={() => setOpen(true)}>{words.replay}</Button>
      <DialogBox title={words.replay} isOpen={isOpen} onClose={() => setOpen(false)}>
        <Recording path={`/browsers/${sessionId}/replays/${replayId}`} />
        <div className="actions">
          <Button onPress={() => setOpen(false)}>{words.close}</Button>
        </div>
      </DialogBox>
    </>
  );
}

function Recording({ path }: { path: string }): ReactNode {
  const recording = useQuery({ queryKey: [path, 'recording'], queryFn: () => callFile(path), gcTime: 0 });
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    if (recording.data === undefined) return undefined;
    const made = URL.createObjectURL(recording.data);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [recording.data]);
  if (recording.isError) return <Failed error={recording.error} retry={() => void recording.refetch()} />;
  if (address === null) return <Loading />;
  return <video className="film" src={address} controls autoPlay muted />;
}
