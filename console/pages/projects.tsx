import type { ReactNode } from 'react';
import type { Project } from '../../contract/projects.ts';
import { call } from '../calls/call.ts';
import { ActionButton, ConfirmButton, useAction } from '../parts/actions.tsx';
import { FormButton } from '../parts/form-button.tsx';
import { TextInput } from '../parts/form.tsx';
import { SearchedTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { Badge, When } from '../parts/when.tsx';
import { PROJECTS, useProjects } from '../scope/projects.ts';
import { commonWords } from '../words/common.ts';
import { scopeWords as words } from '../words/scope.ts';

/** The organization's projects, including archived ones. Owners can change them. */
export default function Projects(): ReactNode {
  const oldest = useProjects().data?.[0]?.id;
  return (
    <Page title={words.title} actions={<CreateProject />}>
      <p className="lead">{words.text}</p>
      <SearchedTable<Project>
        label={words.title}
        search={commonWords.name}
        path={PROJECTS}
        empty={{ title: words.emptyTitle, text: words.emptyText }}
        columns={[
          { label: commonWords.name, cell: ({ name }) => name },
          {
            label: commonWords.state,
            cell: ({ status }) => <Badge tone={status === 'active' ? 'good' : 'idle'}>{words[status]}</Badge>,
          },
          { label: words.since, cell: ({ created_at: at }) => <When at={at} /> },
          {
            label: commonWords.actions,
            acts: true,
            cell: (project) => <ProjectActions project={project} isDefault={project.id === oldest} />,
          },
        ]}
      />
    </Page>
  );
}

function CreateProject(): ReactNode {
  return (
    <FormButton
      kind="primary"
      label={words.create}
      done={words.created}
      invalidates={[PROJECTS]}
      onSubmit={(values) => call<Project>('POST', PROJECTS, values)}
    >
      <TextInput name="name" label={commonWords.name} required />
    </FormButton>
  );
}

/** The default project can be renamed, but neither archived nor deleted. */
function ProjectActions({
  project: { id, name, status },
  isDefault,
}: {
  project: Project;
  isDefault: boolean;
}): ReactNode {
  const path = `${PROJECTS}/${id}`;
  const perform = useAction([PROJECTS]);
  const setStatus = (next: Project['status'], done: string): Promise<void> =>
    perform(done, () => call('PATCH', path, { status: next }));
  return (
    <div className="actions">
      <FormButton
        kind="quiet"
        label={commonWords.rename}
        title={`${commonWords.rename}: ${name}`}
        done={words.renamed}
        invalidates={[PROJECTS]}
        onSubmit={(values) => call('PATCH', path, values)}
      >
        <TextInput name="name" label={commonWords.name} initial={name} required />
      </FormButton>
      {isDefault ? null : status === 'archived' ? (
        <ActionButton label={words.takeBack} onAct={() => setStatus('active', words.takenBack)} />
      ) : (
        <ConfirmButton
          kind="plain"
          label={words.archive}
          title={`${words.archive}: ${name}`}
          text={words.archiveText}
          onConfirm={() => setStatus('archived', words.archivedDone)}
        />
      )}
      {isDefault ? null : (
        <ConfirmButton
          title={`${commonWords.remove}: ${name}`}
          text={words.removeText}
          onConfirm={() => perform(words.removed, () => call('DELETE', path))}
        />
      )}
    </div>
  );
}
