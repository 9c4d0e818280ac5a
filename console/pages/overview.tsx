import { lazy, type ReactNode, Suspense } from 'react';
import { Link, useLocation } from 'wouter';
import type { ConnectionSummary } from '../../contract/connection-summary.ts';
import { Loaded, useResource } from '../parts/resource.tsx';
import { RowTable } from '../parts/list.tsx';
import { Page, Section } from '../parts/page.tsx';
import { Loading } from '../parts/states.tsx';
import { connectionTables } from '../words/connections.ts';
import { counted, formatDuration, formatNumber, formatTime } from '../words/format.ts';
import { overviewWords as words } from '../words/overview.ts';
import type { ManagedAuth } from '../../contract/connections.ts';
import { call, CallError } from '../calls/call.ts';
import { serverSettings } from '../calls/settings.ts';
import { ActionButton } from '../parts/actions.tsx';
import { useCanAct } from '../parts/roles.tsx';
import { AddSite } from '../connection/add-site.tsx';
import { useQuery } from '@tanstack/react-query';
import { sessionQuery } from '../calls/session.ts';
import { LinkButton } from '../parts/button.tsx';

const ActivityChart = lazy(() => import('../connection/activity-chart.tsx'));
const REFRESH_MS = 15_000;

/** Status of all connections; each number links to its list. */
export default function Overview(): ReactNode {
  const query = useResource<ConnectionSummary>('/auth/connections/summary', REFRESH_MS);
  return (
    <Page title={words.title}>
      <SignInMethodNote />
      <Loaded query={query}>
        {(summary) => (summary.total === 0 ? <FirstVisit /> : <Figures summary={summary} />)}
      </Loaded>
    </Page>
  );
}

function Figures({ summary }: { summary: ConnectionSummary }): ReactNode {
  return (
    <>
      <ul className="figures">
        <Figure count={summary.waiting} label={counted(summary.waiting, words.waiting)} state="waiting" tone="wait" />
        <Figure
          count={summary.needs_person}
          label={counted(summary.needs_person, words.needsPerson)}
          state="person"
          tone="bad"
        />
        <Figure
          count={summary.will_log_in}
          label={counted(summary.will_log_in, words.byItself)}
          state="itself"
          tone="idle"
        />
        <Figure count={summary.authenticated} label={words.healthy} state="in" tone="good" />
      </ul>
      <div className="columns">
        <Section title={words.why}>
          <Ranking
            none={words.none}
            entries={summary.reasons.map(({ reason, count }) => ({
              label: connectionTables.reasons[reason],
              href: `/connections?state=person&reason=${reason}`,
              value: formatNumber(count),
            }))}
          />
        </Section>
        <Section title={words.where}>
          <Ranking
            none={words.none}
            entries={summary.domains.map(({ domain, count }) => ({
              label: domain,
              href: `/connections?state=person&domain=${encodeURIComponent(domain)}`,
              value: formatNumber(count),
            }))}
          />
        </Section>
        <Section title={words.slowest}>
          <Ranking
            none={words.slowestNone}
            entries={summary.slowest.map(({ domain, seconds }) => ({
              label: domain,
              href: `/connections?domain=${encodeURIComponent(domain)}`,
              value: formatDuration(seconds),
            }))}
          />
        </Section>
      </div>
      <Activity activity={summary.activity} />
    </>
  );
}

function Figure({
  count,
  label,
  state,
  tone,
}: {
  count: number;
  label: string;
  state: string;
  tone: string;
}): ReactNode {
  return (
    <li>
      <Link href={`/connections?state=${state}`} className={`figure figure-${count === 0 ? 'idle' : tone}`}>
        <strong>{formatNumber(count)}</strong> {label}
      </Link>
    </li>
  );
}

function Ranking({
  entries,
  none,
}: {
  entries: readonly { label: string; href: string; value: string }[];
  none: string;
}): ReactNode {
  if (entries.length === 0) return <p className="muted">{none}</p>;
  return (
    <ol className="ranking">
      {entries.map(({ label, href, value }) => (
        <li key={label}>
          <Link href={href}>{label}</Link>
          <span>{value}</span>
        </li>
      ))}
    </ol>
  );
}

function Activity({ activity }: Pick<ConnectionSummary, 'activity'>): ReactNode {
  return (
    <Section title={words.activity}>
      {activity.length === 0 ? (
        <p className="muted">{words.activityNone}</p>
      ) : (
        <>
          <Suspense fallback={<Loading />}>
            <ActivityChart activity={activity} />
          </Suspense>
          <details>
            <summary>{words.table}</summary>
            <RowTable
              label={words.activity}
              rows={activity.map((hour) => ({ ...hour, id: hour.hour }))}
              columns={[
                { label: words.hour, cell: ({ hour }) => formatTime(hour) },
                { label: words.checks, cell: ({ checks }) => formatNumber(checks) },
                { label: words.expired, cell: ({ expired }) => formatNumber(expired) },
                { label: words.logins, cell: ({ logins }) => formatNumber(logins) },
                { label: words.failedLogins, cell: ({ failed_logins: failed }) => formatNumber(failed) },
              ]}
            />
          </details>
        </>
      )}
    </Section>
  );
}

/** Asks people who signed in with a one-time link and have no other sign-in method to set one. */
function SignInMethodNote(): ReactNode {
  const session = useQuery(sessionQuery).data;
  if (session === undefined || session === null) return null;
  if (session.has_password || session.has_oidc || session.passkeys > 0) return null;
  return (
    <div className="note note-action">
      <p>{words.wayInText}</p>
      <LinkButton href="/account">{words.wayIn}</LinkButton>
    </div>
  );
}

/** The overview before there is a site: offers a login on the practice site, or adding a site. */
function FirstVisit(): ReactNode {
  const [, navigate] = useLocation();
  const canAct = useCanAct();
  const { sandbox } = serverSettings;
  return (
    <div className="empty">
      <h2>{words.firstTitle}</h2>
      <p>{words.firstText}</p>
      {sandbox === null || !canAct ? null : (
        <>
          <ActionButton
            kind="primary"
            label={words.tryDemo}
            onAct={async () => navigate(`/connections/${await demoConnectionId(sandbox.loginUrl)}`)}
          />
          <p>
            {words.demoText} <br /> {words.or}
          </p>
        </>
      )}
      <AddSite />
    </div>
  );
}

async function demoConnectionId(loginUrl: string): Promise<string> {
  const body = { profile_name: 'demo', domain: new URL(loginUrl).host, login_url: loginUrl };
  try {
    return (await call<ManagedAuth>('POST', '/auth/connections', body)).id;
  } catch (error) {
    if (error instanceof CallError && error.existingId !== undefined) return error.existingId;
    throw error;
  }
}
