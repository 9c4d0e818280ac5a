import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { ManagedAuth } from '../../contract/connections.ts';
import { call } from '../calls/call.ts';
import { workflowUrl } from '../calls/settings.ts';
import { intervalText } from '../connection/add-site.tsx';
import { useConnectionEvents } from '../calls/events.ts';
import { LoginButton } from '../connection/start-login.tsx';
import { ConnectionBadge, isWaiting, reauthText, WhatToDo } from '../connection/status.tsx';
import { Timeline } from '../connection/timeline.tsx';
import { ActionButton, RemoveButton, useAction } from '../parts/actions.tsx';
import { LinkButton } from '../parts/button.tsx';
import { Loaded, Facts, useResource } from '../parts/resource.tsx';
import { Page, Section } from '../parts/page.tsx';
import { toastSuccess } from '../parts/toasts.tsx';
import { When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { connectionTables, connectionWords as words } from '../words/connections.ts';
import { fill } from '../words/language.ts';

const REFRESH_MS = 15_000;

/** One connection: status, history and actions. Live while a login runs. */
export default function ConnectionPage({ id }: { id: string }): ReactNode {
  const path = `/auth/connections/${id}`;
  const query = useResource<ManagedAuth>(path, REFRESH_MS);
  useConnectionEvents(path, query.data?.flow_status === 'IN_PROGRESS');
  return <Loaded query={query}>{(connection) => <ConnectionDetail connection={connection} />}</Loaded>;
}

function ConnectionDetail({ connection }: { connection: ManagedAuth }): ReactNode {
  const { id, domain } = connection;
  return (
    <Page
      title={domain}
      back={{ href: '/connections', label: words.title }}
      actions={<ConnectionActions connection={connection} />}
    >
      <Section
        title={sentence(connection)}
        actions={
          <span aria-live="polite">
            <ConnectionBadge connection={connection} />
          </span>
        }
      >
        <WhatToDo connection={connection} />
        <Facts
          facts={[
            [
              words.profile,
              <Link key="profile" href={`/connections?profile=${encodeURIComponent(connection.profile_name)}`}>
                {connection.profile_name}
              </Link>,
            ],
            [words.checked, <When key="checked" at={connection.last_auth_check_at} />],
            [words.nextCheck, checkIntervalText(connection)],
            [words.credential, connection.credential?.name ?? connection.credential?.provider],
            [words.landing, connection.post_login_url],
            [words.outlook, connection.status === 'AUTHENTICATED' ? reauthText(connection) : null],
            [words.liveView, externalLink(connection.live_view_url, words.liveView)],
            [words.workflow, externalLink(workflowUrl(id), 'Temporal')],
          ]}
        />
      </Section>
      <Timeline connectionId={id} liveViewUrl={connection.live_view_url ?? null} />
    </Page>
  );
}

function ConnectionActions({ connection }: { connection: ManagedAuth }): ReactNode {
  const path = `/auth/connections/${connection.id}`;
  const isPaused = connection.health_checks === false && connection.auto_reauth === false;
  const perform = useAction([path]);
  return (
    <>
      <LoginButton connection={connection} isFirst={connection.status === 'NEEDS_AUTH'} />
      <ActionButton
        label={words.check}
        onAct={() =>
          perform(null, async () => {
            const found = await call<ManagedAuth>('POST', `${path}/check`);
            toastSuccess(checkResultText(connection, found));
          })
        }
      />
      <ActionButton
        label={isPaused ? commonWords.resume : commonWords.pause}
        onAct={() =>
          perform(isPaused ? words.resumed : words.pausedDone, () =>
            call('PATCH', path, { health_checks: isPaused, auto_reauth: isPaused }),
          )
        }
      />
      <LinkButton href={`/connections/${connection.id}/settings`}>{words.settings}</LinkButton>
      <RemoveButton path={path} list="/auth/connections" leadsTo="/connections" words={words} />
    </>
  );
}

/** The status in a sentence. */
function sentence(connection: ManagedAuth): string {
  const { flow_status: status, flow_step: step, external_action_message: message } = connection;
  if (status === 'IN_PROGRESS' && step !== null && step !== undefined) {
    const asked = isWaiting(connection) && typeof message === 'string' ? ` (${message})` : '';
    return fill(words.running, { step: connectionTables.steps[step] }) + asked;
  }
  return capitalize(connection.status === 'AUTHENTICATED' ? words.loggedIn : reauthText(connection));
}

/** Result of a check. A slow check returns the connection as it was before. */
function checkResultText({ last_auth_check_at: before }: ManagedAuth, found: ManagedAuth): string {
  if (found.last_auth_check_at === before) return words.checkGoesOn;
  if (found.status === 'AUTHENTICATED') return words.checkedIn;
  return found.flow_status === 'IN_PROGRESS' ? words.checkedLogsIn : words.checkedOut;
}

function checkIntervalText({ health_checks: checks, health_check_interval: interval }: ManagedAuth): string {
  if (checks === false || interval === null || interval === undefined) return words.paused;
  return intervalText(interval);
}

function externalLink(href: string | null | undefined, label: string): ReactNode {
  if (href === null || href === undefined) return null;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {label} <span aria-hidden="true">↗</span>
    </a>
  );
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
