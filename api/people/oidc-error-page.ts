import type { HoldfastError } from '../../contract/errors.ts';
import type { Language } from '../hosted/shell.ts';
import { escapeHtml } from '../html/page-head.ts';
import { staticPage, type StaticPage } from '../html/static-page.ts';
import { reasonOf } from './oidc-errors.ts';
import { OIDC_WORDS, type OidcErrorKind } from './oidc-words.ts';

/** Errors that a retry would not solve. */
const NOT_RETRIABLE: ReadonlySet<OidcErrorKind> = new Set(['oidc_not_configured', 'oidc_no_member', 'too_often']);

/**
 * Error page that says why the round trip through the provider failed, and what to do. The provider's own message is not shown.
 * `returnTo` is the console page a confirmation was for; null for a sign-in.
 */
export function oidcErrorPage(refusal: HoldfastError, language: Language, returnTo: string | null): StaticPage {
  const kind = kindOf(refusal);
  const words = OIDC_WORDS[language];
  const { title, happened, next } = words.refusals[kind];
  const back = returnTo === null ? link('/console', words.toSignIn) : link(returnTo, words.toConsole, true);
  const again = returnTo !== null || NOT_RETRIABLE.has(kind) ? '' : link('/session/oidc', words.again, true);
  const body = `<h1>${title}</h1>\n<p>${happened}</p>\n<p>${next}</p>\n<p class="actions">${again}${back}</p>`;
  return staticPage(language, { title, body });
}

function kindOf(refusal: HoldfastError): OidcErrorKind {
  const reason = reasonOf(refusal);
  if (reason !== null) return reason;
  if (refusal.code === 'rate_limited') return 'too_often';
  // The identity was proven and still rejected: the person is not a member.
  return refusal.code === 'forbidden' ? 'oidc_no_member' : 'fault';
}

function link(href: string, label: string, isPrimary = false): string {
  return `<a class="button${isPrimary ? ' primary' : ''}" href="${escapeHtml(href)}">${label}</a>`;
}
