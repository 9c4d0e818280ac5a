import type { ReactNode } from 'react';
import type { ProjectLimits } from '../../contract/organization-limits.ts';
import type { Project } from '../../contract/projects.ts';
import { call } from '../calls/call.ts';
import { Loaded, useResource } from '../parts/detail.tsx';
import { FormButton } from '../parts/form-button.tsx';
import { ListTable } from '../parts/list.tsx';
import { PROJECTS } from '../scope/projects.ts';
import { commonWords } from '../words/common.ts';
import { formatNumber } from '../words/format.ts';
import { limitWords as words } from '../words/limits.ts';
import { limitOf, LimitInput } from './limit-input.tsx';

/** Each project with how much may run in it at a time. */
export function ProjectLimitsTable(): ReactNode {
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

/** The cells of a row read the same once. */
function LimitsOf({
  project,
  children,
}: {
  project: Project;
  children: (limits: ProjectLimits) => ReactNode;
}): ReactNode {
  return <Loaded read={useResource<ProjectLimits>(pathOf(project))}>{children}</Loaded>;
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
