import type { ReactNode } from 'react';
import type { Entitlements, OrganizationLimits, ProjectLimits } from '../../contract/organization-limits.ts';
import { call, fieldError } from '../calls/call.ts';
import { ActionButton, ConfirmButton, useAction } from '../parts/actions.tsx';
import { Facts, Loaded, useResource } from '../parts/resource.tsx';
import { FormButton } from '../parts/form-button.tsx';
import { Page, Section } from '../parts/page.tsx';
import { PROJECTS } from '../scope/projects.ts';
import { formatDuration, formatNumber } from '../words/format.ts';
import { fill } from '../words/language.ts';
import { limitWords as words } from '../words/limits.ts';
import type { Project } from '../../contract/projects.ts';
import { ListTable } from '../parts/list.tsx';
import { commonWords } from '../words/common.ts';
import { type FormValues, TextInput } from '../parts/form.tsx';

const LIMITS = '/org/limits';
const ENTITLEMENTS = '/org/entitlements';

/** Limits of the organization and its projects. Owners can change them. */
export default function Limits(): ReactNode {
  return (
    <Page title={words.title}>
      <p className="lead">{words.text}</p>
      <Loaded query={useResource<OrganizationLimits>(LIMITS)}>
        {(limits) => <OrganizationSection limits={limits} />}
      </Loaded>
      <Loaded query={useResource<Entitlements>(ENTITLEMENTS)}>
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
  return { ENTERPRISE: words.enterprise, START_UP: words.startup, HOBBYIST: words.hobbyist, FREE: words.free }[id];
}

/** Turns projects off or on; the API rejects what the plan does not include. */
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

/** Table of projects with their concurrency limits. */
function ProjectLimitsTable(): ReactNode {
  return (
    <ListTable<Project>
      label={words.projectTable}
      path={PROJECTS}
      empty={{ title: words.projectTable, text: words.off }}
      columns={[
        { label: commonWords.name, cell: ({ name }) => name },
        {
          label: words.sessions,
          cell: (project) => (
            <LimitsOf project={project}>
              {({ max_concurrent_sessions: limit }) => (limit === null ? words.asOrganization : formatNumber(limit))}
            </LimitsOf>
          ),
        },
        {
          label: words.invocations,
          cell: (project) => (
            <LimitsOf project={project}>
              {({ max_concurrent_invocations: limit }) => (limit === null ? words.none : formatNumber(limit))}
            </LimitsOf>
          ),
        },
        {
          label: commonWords.actions,
          acts: true,
          cell: (project) => (
            <LimitsOf project={project}>{(limits) => <ChangeLimits project={project} limits={limits} />}</LimitsOf>
          ),
        },
      ]}
    />
  );
}

const pathOf = ({ id }: Project): string => `${PROJECTS}/${id}/limits`;

/** Cells of a row share one query. */
function LimitsOf({
  project,
  children,
}: {
  project: Project;
  children: (limits: ProjectLimits) => ReactNode;
}): ReactNode {
  return <Loaded query={useResource<ProjectLimits>(pathOf(project))}>{children}</Loaded>;
}

function ChangeLimits({ project, limits }: { project: Project; limits: ProjectLimits }): ReactNode {
  const path = pathOf(project);
  return (
    <FormButton
      kind="quiet"
      label={words.change}
      title={`${words.change}: ${project.name}`}
      done={words.changed}
      invalidates={[path]}
      onSubmit={(values) =>
        call('PATCH', path, {
          max_concurrent_sessions: limitOf(values, 'max_concurrent_sessions'),
          max_concurrent_invocations: limitOf(values, 'max_concurrent_invocations'),
        })
      }
    >
      <LimitInput
        name="max_concurrent_sessions"
        label={words.sessions}
        hint={words.emptyDefault}
        initial={limits.max_concurrent_sessions}
      />
      <LimitInput
        name="max_concurrent_invocations"
        label={words.invocations}
        initial={limits.max_concurrent_invocations}
      />
    </FormButton>
  );
}

/** Input for a limit: a whole number, or empty for no limit. */
function LimitInput({
  name,
  label,
  hint = words.empty,
  initial,
}: {
  name: string;
  label: string;
  hint?: string;
  initial: number | null;
}): ReactNode {
  return (
    <TextInput
      name={name}
      label={label}
      hint={hint}
      inputMode="numeric"
      initial={initial === null ? '' : String(initial)}
    />
  );
}

/** The entered limit; null for none. Throws a {@link CallError} if it is not a number, as the API would. */
function limitOf(values: FormValues, name: string): number | null {
  const text = (values[name] ?? '').trim();
  if (text === '') return null;
  if (/^\d+$/.test(text)) return Number(text);
  throw fieldError(name, words.number);
}
