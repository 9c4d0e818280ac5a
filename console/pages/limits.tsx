import type { ReactNode } from 'react';
import type { Entitlements, OrganizationLimits } from '../../contract/organization-limits.ts';
import { call } from '../calls/call.ts';
import { limitOf, LimitInput } from '../limits/limit-input.tsx';
import { ProjectLimitsTable } from '../limits/project-limits.tsx';
import { ActionButton, ConfirmButton, useAction } from '../parts/actions.tsx';
import { Loaded, Facts, useResource } from '../parts/detail.tsx';
import { FormButton } from '../parts/form-button.tsx';
import { Page, Section } from '../parts/page.tsx';
import { PROJECTS } from '../scope/projects.ts';
import { formatDuration, formatNumber } from '../words/format.ts';
import { fill } from '../words/language.ts';
import { limitWords as words } from '../words/limits.ts';

const LIMITS = '/org/limits';
const ENTITLEMENTS = '/org/entitlements';

/** What the organization and its projects may have at most. Owners change it. */
export default function Limits(): ReactNode {
  return (
    <Page title={words.title}>
      <p className="lead">{words.text}</p>
      <Loaded read={useResource<OrganizationLimits>(LIMITS)}>
        {(limits) => <OrganizationSection limits={limits} />}
      </Loaded>
      <Loaded read={useResource<Entitlements>(ENTITLEMENTS)}>
        {(entitlements) => (
          <>
            <Section title={words.projectTable}>
              {entitlements.projects ? <ProjectLimitsTable /> : <p className="muted">{words.off}</p>}
            </Section>
            <PlanSection entitlements={entitlements} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function OrganizationSection({ limits }: { limits: OrganizationLimits }): ReactNode {
  const { auth_connections_used: used, max_auth_connections: most, max_concurrent_sessions: room } = limits;
  const perProject = limits.default_project_max_concurrent_sessions;
  return (
    <Section
      title={words.organization}
      actions={
        <FormButton
          label={words.change}
          title={`${words.change}: ${words.organization}`}
          done={words.changed}
          invalidates={[LIMITS, ENTITLEMENTS, PROJECTS]}
          onSubmit={(values) =>
            call('PATCH', LIMITS, {
              max_auth_connections: limitOf(values, 'max_auth_connections'),
              default_project_max_concurrent_sessions: limitOf(values, 'default_project_max_concurrent_sessions'),
            })
          }
        >
          <LimitInput name="max_auth_connections" label={words.maxConnections} initial={most} />
          <LimitInput name="default_project_max_concurrent_sessions" label={words.maxSessions} initial={perProject} />
        </FormButton>
      }
    >
      <Facts
        facts={[
          [
            words.connections,
            fill(most === null ? words.noBound : words.ofMost, {
              used: formatNumber(used),
              most: formatNumber(most ?? 0),
            }),
          ],
          [words.perProject, perProject === null ? words.none : formatNumber(perProject)],
          [words.sessionRoom, room === undefined ? null : sessionsOf(room, limits.concurrent_sessions_used)],
        ]}
      />
    </Section>
  );
}

function sessionsOf(room: number, used: number | null): string {
  return used === null
    ? formatNumber(room)
    : fill(words.ofMost, { used: formatNumber(used), most: formatNumber(room) });
}

function PlanSection({ entitlements }: { entitlements: Entitlements }): ReactNode {
  const { plan, projects, audit_log_exports: exports } = entitlements;
  return (
    <Section title={words.plan} actions={<ProjectsSwitch isOn={projects} />}>
      <p className="lead">{words.planHint}</p>
      <Facts
        facts={[
          [words.planName, planName(plan.id)],
          [words.interval, formatDuration(entitlements.min_health_check_interval_seconds)],
          [words.projects, projects ? words.included : words.notIncluded],
          [words.exports, exports ? words.included : words.notIncluded],
        ]}
      />
    </Section>
  );
}

function planName(id: Entitlements['plan']['id']): string {
  return {
    ENTERPRISE: words.enterprise,
    START_UP: words.startup,
    HOBBYIST: words.hobbyist,
    FREE: words.free,
  }[id];
}

/** Turns projects off or on; a plan without them refuses that, and says so. */
function ProjectsSwitch({ isOn }: { isOn: boolean }): ReactNode {
  const perform = useAction([ENTITLEMENTS, PROJECTS]);
  const turn = (projects: boolean, done: string): Promise<void> =>
    perform(done, () => call('PATCH', ENTITLEMENTS, { projects }));
  if (!isOn) return <ActionButton label={words.turnOn} onAct={() => turn(true, words.turnedOn)} />;
  return (
    <ConfirmButton
      kind="plain"
      label={words.turnOff}
      title={words.turnOffTitle}
      text={words.turnOffText}
      onConfirm={() => turn(false, words.turnedOff)}
    />
  );
}
