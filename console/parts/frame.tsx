import { type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { type Session, signOut } from '../calls/session.ts';
import { PAGES } from '../pages.ts';
import type { PageScope } from '../scope/address.ts';
import { ScopeSwitch, useProjectName } from '../scope/switch.tsx';
import { changeLanguage, language } from '../words/language.ts';
import { shellWords as words } from '../words/shell.ts';
import { Button } from './button.tsx';
import { isAtLeast } from './roles.tsx';
import { toastError } from './toasts.tsx';

/** The layout around every page: menu (behind a button on phones), account and sign-out. */
export function Frame({
  session,
  scope,
  children,
}: {
  session: Session;
  scope: PageScope;
  children: ReactNode;
}): ReactNode {
  const projectName = useProjectName(scope);
  const [isOpen, setOpen] = useState(false);
  const [location] = useLocation();
  const leave = async (): Promise<void> => {
    try {
      await signOut();
      // A full reload discards all cached data.
      window.location.assign('/console');
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <div className="frame">
      <a className="skip" href="#content">
        {words.skip}
      </a>
      <header className="top">
        <Link href="/" className="brand">
          <span className="mark" aria-hidden="true">
            H
          </span>
          Holdfast
        </Link>
        {projectName === null ? null : <span className="top-scope muted">{projectName}</span>}
        <button
          type="button"
          className="button button-plain menu-button"
          aria-expanded={isOpen}
          aria-controls="menu"
          onClick={() => setOpen(!isOpen)}
        >
          {words.menu}
        </button>
      </header>
      <div id="menu" className="side" data-open={isOpen}>
        <div>
          <ScopeSwitch session={session} scope={scope} />
          <nav aria-label={words.navigation}>
            <ul>
              {PAGES.flatMap(({ path, nav, viewRole = 'viewer' }) =>
                nav === undefined || !isAtLeast(session.role, viewRole) ? (
                  []
                ) : (
                  <li key={path}>
                    <Link
                      href={path}
                      aria-current={isAt(location, path) ? 'page' : undefined}
                      onClick={() => setOpen(false)}
                    >
                      {nav}
                    </Link>
                  </li>
                ),
              )}
            </ul>
          </nav>
        </div>
        <section className="who" aria-label={words.account}>
          <p>
            <Link href="/account" onClick={() => setOpen(false)}>
              {session.user.name ?? session.user.email}
            </Link>
            <br />
            <span className="muted">{session.organization.name}</span>
          </p>
          <Button kind="quiet" onPress={() => changeLanguage(language === 'de' ? 'en' : 'de')}>
            {words.language}
          </Button>
          <Button kind="quiet" onPress={() => void leave()}>
            {words.signOut}
          </Button>
        </section>
      </div>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function isAt(location: string, path: string): boolean {
  return path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`);
}
