import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Invocation } from '../../contract/apps.ts';
import { InvocationState, JsonText } from '../apps/states.tsx';
import { call } from '../calls/call.ts';
import { ConfirmButton, useAction } from '../parts/actions.tsx';
import { Loaded, Facts, useResource } from '../parts/detail.tsx';
import { EventLog } from '../parts/event-log.tsx';
import { Page, Section } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { appWords as words } from '../words/apps.ts';
import { durationOf } from './invocations.tsx';

/** One invocation: what it was given, what it says, what it answered; and the way to end it. */
export default function InvocationPage({ id }: { id: string }): ReactNode {
  const read = useResource<Invocation>(`/invocations/${id}`);
  return <Loaded read={read}>{(invocation) => <InvocationDetail invocation={invocation} />}</Loaded>;
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
