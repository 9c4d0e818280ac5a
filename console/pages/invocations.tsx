import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { Invocation } from '../../contract/apps.ts';
import { InvocationState, JsonText } from '../apps/states.tsx';
import { call } from '../calls/call.ts';
import { ConfirmButton, useAction } from '../parts/actions.tsx';
import { LinkButton } from '../parts/button.tsx';
import { Facts, Loaded, useResource } from '../parts/resource.tsx';
import { EventLog } from '../parts/event-log.tsx';
import { Filter, ListTable } from '../parts/list.tsx';
import { Page, Section } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { appWords as words } from '../words/apps.ts';
import { commonWords } from '../words/common.ts';
import { formatDuration } from '../words/format.ts';

/** Refetch interval in milliseconds. */
const REFRESH_MS = 5000;
const STATES = ['queued', 'running', 'succeeded', 'failed'] as const;

/** Running and finished actions, newest first. */
export default function Invocations(): ReactNode {
  const [query, setQuery] = useState('');
  const [status, setStatus] = useState('');
  return (
    <Page title={words.invocations} actions={<LinkButton href="/apps">{words.toApps}</LinkButton>}>
      <p className="lead">{words.invocationsText}</p>
      <div className="filters">
        <Filter label={words.searchOrId} value={query} onChange={setQuery} />
        <Filter
          label={commonWords.state}
          value={status}
          onChange={setStatus}
          options={[{ value: '', label: words.anyState }, ...STATES.map((value) => ({ value, label: words[value] }))]}
        />
      </div>
      <ListTable<Invocation>
        label={words.invocations}
        path="/invocations"
        query={{ query, status }}
        refreshMs={REFRESH_MS}
        empty={{
          title: words.noInvocations,
          text: words.noInvocationsText,
          action: (
            <LinkButton href="/apps" kind="primary">
              {words.toApps}
            </LinkButton>
          ),
        }}
        columns={[
          {
            label: words.action,
            cell: ({ id, action_name: action }) => <Link href={`/invocations/${id}`}>{action}</Link>,
          },
          { label: words.app, cell: ({ app_name: app, version }) => `${app} ${version}` },
          { label: commonWords.state, cell: (invocation) => <InvocationState status={invocation.status} /> },
          { label: words.begun, cell: ({ started_at: at }) => <When at={at} /> },
          { label: words.took, cell: durationOf },
        ]}
      />
    </Page>
  );
}

/** Duration of an invocation; a dash while it runs. */
function durationOf({ started_at: start, finished_at: end }: Invocation): string {
  return end === null ? '–' : formatDuration((Date.parse(end) - Date.parse(start)) / 1000);
}

/** One invocation: payload, output and log, with a button to stop it. */
export function InvocationPage({ id }: { id: string }): ReactNode {
  const query = useResource<Invocation>(`/invocations/${id}`);
  return <Loaded query={query}>{(invocation) => <InvocationDetail invocation={invocation} />}</Loaded>;
}

function InvocationDetail({ invocation }: { invocation: Invocation }): ReactNode {
  const { id, status, payload, output } = invocation;
  const path = `/invocations/${id}`;
  const perform = useAction(['/invocations', path]);
  const isOver = status === 'succeeded' || status === 'failed';
  return (
    <Page
      title={invocation.action_name}
      back={{ href: '/invocations', label: words.invocations }}
      actions={
        isOver ? null : (
          <ConfirmButton
            label={words.cancel}
            title={words.cancelTitle}
            text={words.cancelText}
            onConfirm={() => perform(words.canceled, () => call('PATCH', path, { status: 'failed' }))}
          />
        )
      }
    >
      <Section title={words.facts} actions={<InvocationState status={status} />}>
        <Facts
          facts={[
            [commonWords.id, <code key="id">{id}</code>],
            [
              words.app,
              <Link key="app" href={`/apps/${encodeURIComponent(invocation.app_name)}`}>
                {invocation.app_name} {invocation.version}
              </Link>,
            ],
            [words.reason, invocation.status_reason],
            [words.begun, <When key="begun" at={invocation.started_at} />],
            [words.took, isOver ? durationOf(invocation) : null],
          ]}
        />
      </Section>
      <Section title={words.given}>
        {payload === undefined ? (
          <p className="muted">{words.noPayload}</p>
        ) : (
          <JsonText label={words.given} text={payload} />
        )}
      </Section>
      <Section title={words.answered}>
        {output === undefined ? (
          <p className="muted">{isOver ? words.endedWithout : words.noOutput}</p>
        ) : (
          <JsonText label={words.answered} text={output} />
        )}
      </Section>
      <EventLog
        title={words.log}
        stream={`${path}/events`}
        resource={path}
        empty={isOver ? words.noMoreLog : words.noLog}
      />
    </Page>
  );
}
