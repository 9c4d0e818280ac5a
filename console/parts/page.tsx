import { type ReactNode, useContext, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { inLanguage } from '../words/language.ts';
import { RequiredRole, useCanAct } from './roles.tsx';

const words = inLanguage({
  en: {
    operator: 'You can view this page. Only operators and owners can make changes.',
    owner: 'You can view this page. Only owners can make changes.',
  },
  de: {
    operator: 'Hier darfst du nur lesen. Ändern darf, wessen Rolle „arbeitet“ oder „verwaltet“ ist.',
    owner: 'Hier darfst du nur lesen. Ändern darf, wessen Rolle „verwaltet“ ist.',
  },
});

/**
 * A page with its heading, which takes the focus when the page opens, and its actions. Tells people who may not act here that the
 * page is read-only.
 */
export function Page({
  title,
  back,
  actions,
  children,
}: {
  title: string;
  back?: { href: string; label: string };
  actions?: ReactNode;
  children: ReactNode;
}): ReactNode {
  const role = useContext(RequiredRole);
  const canAct = useCanAct();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Holdfast`;
  }, [title]);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, []);
  return (
    <>
      {back === undefined ? null : (
        <Link href={back.href} className="back">
          <span aria-hidden="true">←</span> {back.label}
        </Link>
      )}
      <header className="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions === undefined ? null : <div className="actions">{actions}</div>}
      </header>
      {canAct || role === 'viewer' ? null : <p className="note">{words[role]}</p>}
      {children}
    </>
  );
}

/** A section of a page with its own heading. */
export function Section({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}): ReactNode {
  return (
    <section className="card">
      <div className="section-head">
        <h2>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}
