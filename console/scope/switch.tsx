import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Session } from '../calls/session.ts';
import { toastError } from '../parts/toasts.tsx';
import { fill } from '../words/language.ts';
import { scopeWords as words } from '../words/scope.ts';
import { basePath, rememberProject, type PageScope } from './address.ts';
import { switchOrganization } from './organizations.ts';
import { useProjects } from './projects.ts';

/** Name of the selected project; null for all projects, and until it is known. */
export function useProjectName({ projectId }: PageScope): string | null {
  const projects = useProjects();
  return projects.data?.find(({ id }) => id === projectId)?.name ?? null;
}

/** Menu to switch organization and project. Hidden if there is only one of each. */
export function ScopeSwitch({ session, scope }: { session: Session; scope: PageScope }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const listId = useId();
  const [page] = useLocation();
  const active = (useProjects().data ?? []).filter(({ status }) => status === 'active');
  const { organization, organizations } = session;
  const [oldest] = active;
  const hasOrganizations = organizations.length > 1;
  const hasProjects = active.length > 1 || scope.projectId !== null;
  if (!hasOrganizations && !hasProjects) return null;
  const project = active.find(({ id }) => id === scope.projectId);
  const closeByKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !isOpen) return;
    setOpen(false);
    button.current?.focus();
  };
  // List pages exist in every project; a detail page's resource belongs to one project, so switch to its list.
  const list = `/${page.split('/')[1] ?? ''}`;
  const addressIn = (projectId: string | null): string =>
    basePath({ ...scope, projectId }) + (list === '/' ? '' : list);
  const enter = (id: string): void => void switchOrganization(id, '/console').catch(toastError);
  return (
    <div className="scope" onKeyDown={closeByKey}>
      <button
        ref={button}
        type="button"
        className="scope-button"
        aria-expanded={isOpen}
        aria-controls={listId}
        onClick={() => setOpen(!isOpen)}
      >
        <span className="visually-hidden">{words.choose}: </span>
        <span className="scope-names">
          {hasOrganizations ? <span className={hasProjects ? 'muted' : ''}>{organization.name}</span> : null}
          {hasProjects ? <strong>{project?.name ?? words.allProjects}</strong> : null}
        </span>
        <span aria-hidden="true">{isOpen ? '▴' : '▾'}</span>
      </button>
      <div id={listId} className="scope-list" hidden={!isOpen}>
        {hasProjects ? (
          <section aria-label={words.project}>
            <h2>{words.project}</h2>
            <ul>
              {[{ id: null, name: words.allProjects }, ...active].map(({ id, name }) => (
                <li key={id ?? ''}>
                  <a
                    href={addressIn(id)}
                    aria-current={id === scope.projectId ? 'true' : undefined}
                    onClick={() => rememberProject(organization.id, id)}
                  >
                    {name}
                  </a>
                </li>
              ))}
            </ul>
            {scope.projectId === null && oldest !== undefined ? (
              <p className="hint">{fill(words.newGoTo, { project: oldest.name })}</p>
            ) : null}
          </section>
        ) : null}
        {hasOrganizations ? (
          <section aria-label={words.organization}>
            <h2>{words.organization}</h2>
            <ul>
              {organizations.map(({ id, name }) => (
                <li key={id}>
                  <button
                    type="button"
                    aria-current={id === organization.id ? 'true' : undefined}
                    onClick={() => (id === organization.id ? setOpen(false) : enter(id))}
                  >
                    {name}
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ) : null}
      </div>
    </div>
  );
}
