import { useQuery } from '@tanstack/react-query';
import { type ReactNode, Suspense, useEffect } from 'react';
import { Route, Switch } from 'wouter';
import { type LinkCodes, sessionQuery } from './calls/session.ts';
import { useInvitation } from './invitation.ts';
import { ConfirmIdentity } from './parts/confirm-identity.tsx';
import { Frame } from './parts/frame.tsx';
import { LinkButton } from './parts/button.tsx';
import { Page } from './parts/page.tsx';
import { isAtLeast, RequiredRole } from './parts/roles.tsx';
import { Failed, Loading } from './parts/states.tsx';
import { Toasts } from './parts/toasts.tsx';
import { PAGES } from './pages.ts';
import { ScopeGate } from './scope/scope-gate.tsx';
import { SignIn } from './sign-in.tsx';
import { shellWords as words } from './words/shell.ts';

/** The console: the page at the current address, or the sign-in. `codes` are those of the opened link. */
export function App({ codes }: { codes: LinkCodes }): ReactNode {
  return (
    <>
      <Gate codes={codes} />
      <Toasts />
    </>
  );
}

/** The consent page that sent someone here to sign in. Any other `return_to` is ignored: it could lead anywhere. */
function returnPath(): string | null {
  const path = new URLSearchParams(location.search).get('return_to') ?? '';
  return /^\/oauth\/[\w/-]+$/.test(path) ? path : null;
}

function Gate({ codes }: { codes: LinkCodes }): ReactNode {
  const session = useQuery(sessionQuery);
  useInvitation(codes.invitation, session.data);
  const isSignedIn = session.data !== undefined && session.data !== null;
  useEffect(() => {
    const back = returnPath();
    if (isSignedIn && back !== null) location.replace(back);
  }, [isSignedIn]);
  if (session.isPending) return <Loading />;
  if (session.isError) return <Failed error={session.error} retry={() => void session.refetch()} />;
  if (session.data === null) return <SignIn linkCode={codes.signIn} />;
  const person = session.data;
  return (
    <>
      <ScopeGate key={person.organization.id} session={person}>
        {(scope) => (
          <Frame session={person} scope={scope}>
            <Suspense fallback={<Loading />}>
              <Switch>
                {PAGES.map(({ path, editRole = 'operator', viewRole = 'viewer', page: PageOf }) => (
                  <Route key={path} path={path}>
                    {({ id }: { id?: string }) =>
                      isAtLeast(person.role, viewRole) ? (
                        <RequiredRole value={editRole}>
                          <PageOf key={id ?? ''} id={id ?? ''} />
                        </RequiredRole>
                      ) : (
                        <Page title={words.notForYou}>
                          <p className="lead">{words.notForYouText}</p>
                          <LinkButton href="/">{words.toOverview}</LinkButton>
                        </Page>
                      )
                    }
                  </Route>
                ))}
                <Route>
                  <Page title={words.notFound}>
                    <p className="lead">{words.notFoundText}</p>
                    <LinkButton href="/">{words.toOverview}</LinkButton>
                  </Page>
                </Route>
              </Switch>
            </Suspense>
          </Frame>
        )}
      </ScopeGate>
      <ConfirmIdentity session={person} />
    </>
  );
}
