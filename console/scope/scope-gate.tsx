import { type ReactNode, useEffect, useState } from 'react';
import { Router } from 'wouter';
import { setCallProject } from '../calls/call.ts';
import type { Session } from '../calls/session.ts';
import { ActionButton } from '../parts/actions.tsx';
import { Button } from '../parts/button.tsx';
import { Failed, Loading } from '../parts/states.tsx';
import { scopeWords as words } from '../words/scope.ts';
import { fill } from '../words/language.ts';
import { basePath, rememberedProject, rememberProject, type PageScope, parseAddress } from './address.ts';
import { switchOrganization, useReloadOnOrganizationSwitch } from './organizations.ts';
import { useProjects } from './projects.ts';

interface Place extends PageScope {
  page: string;
  /** True if the remembered project is used because the address names none. */
  isRemembered: boolean;
}

/** Renders pages in the organization and project of the address, or a notice if those do not exist or are not accessible. */
export function ScopeGate({
  session,
  children,
}: {
  session: Session;
  children: (scope: PageScope) => ReactNode;
}): ReactNode {
  useReloadOnOrganizationSwitch(session.organization.id);
  const [place] = useState(() => arrive(session));
  if (place.organizationId !== null && place.organizationId !== session.organization.id)
    return <OtherOrganization session={session} place={place} organizationId={place.organizationId} />;
  const pages = <Router base={basePath(place)}>{children(place)}</Router>;
  if (place.projectId === null) return pages;
  return (
    <InProject session={session} place={place} projectId={place.projectId}>
      {pages}
    </InProject>
  );
}

/** Completes the address and scopes calls to its project. Idempotent. */
function arrive({ organization, organizations }: Session): Place {
  const asked = parseAddress(location.pathname);
  if (asked.organizationId !== null && asked.organizationId !== organization.id)
    return { ...asked, isRemembered: false };
  // The remembered project applies only to the bare console address: page addresses state their own scope.
  const isRemembered = asked.projectId === null && asked.organizationId === null && asked.page === '';
  const place = {
    page: asked.page,
    organizationId: organizations.length > 1 ? organization.id : null,
    projectId: isRemembered ? rememberedProject(organization.id) : asked.projectId,
    isRemembered,
  };
  setCallProject(place.projectId);
  history.replaceState(history.state, '', basePath(place) + place.page + location.search);
  return place;
}

/** Renders pages once their project is known to exist. */
function InProject({
  session,
  place,
  projectId,
  children,
}: {
  session: Session;
  place: Place;
  projectId: string;
  children: ReactNode;
}): ReactNode {
  const projects = useProjects();
  const project = projects.data?.find(({ id }) => id === projectId);
  const isThere = project?.status === 'active';
  const isForgotten = projects.isSuccess && !isThere && place.isRemembered;
  useEffect(() => {
    if (!isForgotten) return;
    rememberProject(session.organization.id, null);
    location.replace('/console');
  }, [isForgotten, session.organization.id]);
  if (isThere) return children;
  if (projects.isError) return <Failed error={projects.error} retry={() => void projects.refetch()} />;
  if (projects.isPending || isForgotten) return <Loading />;
  const others = session.organizations.filter(({ id }) => id !== session.organization.id);
  const isArchived = project !== undefined;
  return (
    <Notice
      title={isArchived ? fill(words.archivedTitle, { project: project.name }) : words.noProjectTitle}
      text={isArchived ? words.archivedText : fill(words.noProjectText, { organization: session.organization.name })}
    >
      <Button
        kind="primary"
        onPress={() => location.assign(basePath({ ...place, projectId: null }) + (isArchived ? '/projects' : ''))}
      >
        {isArchived ? words.toProjects : words.allProjects}
      </Button>
      {isArchived
        ? null
        : others.map(({ id, name }) => (
            <ActionButton
              key={id}
              label={fill(words.lookIn, { organization: name })}
              onAct={() => switchOrganization(id, basePath({ organizationId: id, projectId }) + place.page)}
            />
          ))}
    </Notice>
  );
}

/**
 * Shown for addresses of another organization than the session's. Switching needs a confirmation: it affects every tab, and the
 * link may come from anyone.
 */
function OtherOrganization({
  session,
  place,
  organizationId,
}: {
  session: Session;
  place: Place;
  organizationId: string;
}): ReactNode {
  const other = session.organizations.find(({ id }) => id === organizationId);
  const here = session.organization.name;
  return (
    <Notice
      title={other === undefined ? words.notYoursTitle : fill(words.elsewhereTitle, { organization: other.name })}
      text={fill(other === undefined ? words.notYoursText : words.elsewhereText, { here })}
    >
      {other === undefined ? null : (
        <ActionButton
          kind="primary"
          label={fill(words.goOnIn, { organization: other.name })}
          onAct={() => switchOrganization(other.id, basePath(place) + place.page + location.search)}
        />
      )}
      <Button onPress={() => location.assign('/console')}>{fill(words.stayIn, { here })}</Button>
    </Notice>
  );
}

function Notice({ title, text, children }: { title: string; text: string; children: ReactNode }): ReactNode {
  useEffect(() => {
    document.title = `${title} · Holdfast`;
  }, [title]);
  return (
    <main className="sign-in card">
      <h1>{title}</h1>
      <p>{text}</p>
      <div className="or">{children}</div>
    </main>
  );
}
