import type { HoldfastError } from '../../contract/errors.ts';
import type { Language } from '../hosted/shell.ts';
import { escapeHtml } from '../html/page-head.ts';
import { staticPage, type StaticPage } from '../html/static-page.ts';
import { reasonOf } from './oidc-refusals.ts';
import { OIDC_WORDS, type RefusalKind } from './oidc-words.ts';

/** Refusals that the same way would meet again. */
const LASTING: ReadonlySet<RefusalKind> = new Set(['oidc_not_configured', 'oidc_no_member', 'too_often']);

/**
 * Tells a person why the way through the provider ended, and where to go from there. What the provider has said is not repeated.
 * `returnTo` is the page of the console that a confirmation was for; null at a sign-in.
 */
export function oidcRefusalPage(refusal: HoldfastError, language: Language, returnTo: string | null): StaticPage {
  const kind = kindOf(refusal);
  const words = OIDC_WORDS[language];
  const { title, happened, next } = words.refusals[kind];
  const back = returnTo === null ? link('/console', words.toSignIn) : link(returnTo, words.toConsole, true);
  const again = returnTo !== null || LASTING.has(kind) ? '' : link('/session/oidc', words.again, true);
  const body = `<h1>${title}</h1>\n<p>${happened}</p>\n<p>${next}</p>\n<p class="actions">${again}${back}</p>`;
  return staticPage(language, { title, body });
}

function kindOf(refusal: HoldfastError): RefusalKind {
  const reason = reasonOf(refusal);
  if (reason !== null) return reason;
  if (refusal.code === 'rate_limited') return 'too_often';
  // Whoever has proved who they are, and is refused all the same, belongs to no organization.
  return refusal.code === 'forbidden' ? 'oidc_no_member' : 'fault';
}

function link(href: string, label: string, isPrimary = false): string {
  return `<a class="button${isPrimary ? ' primary' : ''}" href="${escapeHtml(href)}">${label}</a>`;
}
