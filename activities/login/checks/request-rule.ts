import { createHash } from 'node:crypto';
import type { AnswerSigns, RequestCheck } from '../../../contract/document.ts';
import { hostAndPath } from '../urls.ts';

/** An answer of the site to one request. Holds what the page says: it never leaves the activity. */
export interface SiteAnswer {
  status: number;
  /** Where it redirects to, as an absolute address; null when it does not. */
  location: string | null;
  body: string;
}

/** What an answer says of a session, and by what. */
export type RequestVerdict =
  | { verdict: 'authenticated' | 'expired'; decidedBy: 'status' | 'redirect' | 'content' }
  | { verdict: 'unsure' };

/** So many marks of a page tell it from another; more only make it go stale sooner. */
const MAX_MARKS = 3;
/** Names and addresses in markup: what a page is built of, not what it says. */
const ATTRIBUTE = /\s(?:href|action|id|name|data-testid)\s*=\s*(?:"([^"]{2,120})"|'([^']{2,120})')/gi;
const SIGN_OUT = /log-?_?(out|off)|sign-?_?(out|off)|abmelde|deconnexion|cerrar-?sesion/i;
const OWN_PLACE = /account|profile|settings|dashboard|preferences|konto|mein/i;

/**
 * What tells a signed-in answer from a signed-out one, from two answers each: nothing that only comes and goes. Null when
 * nothing does, or when what does would take an outage for a session. Pure.
 */
export function learnRule(
  signedIn: readonly [SiteAnswer, SiteAnswer],
  signedOut: readonly [SiteAnswer, SiteAnswer],
): Pick<RequestCheck, 'signedIn' | 'signedOut'> | null {
  const rule = {
    signedIn: signsOf(signedIn, signedOut),
    signedOut: signsOf(signedOut, signedIn),
  };
  // A page that is recognised by nothing of its own could be any page of that status.
  const isShown = signedIn[0].status < 300;
  if (isShown && rule.signedIn.marks.length === 0) return null;
  const holds =
    signedIn.every((answer) => judge(rule, answer).verdict === 'authenticated') &&
    signedOut.every((answer) => judge(rule, answer).verdict === 'expired');
  return holds ? rule : null;
}

/** What an answer says by a rule. `unsure` unless it fits one side and not the other. Pure. */
export function judge(rule: Pick<RequestCheck, 'signedIn' | 'signedOut'>, answer: SiteAnswer): RequestVerdict {
  const marks = new Set(tokensOf(answer.body).map(fingerprint));
  const isIn = fits(rule.signedIn, rule.signedOut, answer, marks);
  const isOut = fits(rule.signedOut, rule.signedIn, answer, marks);
  if (isIn === isOut) return { verdict: 'unsure' };
  const signs = isIn ? rule.signedIn : rule.signedOut;
  const decidedBy = signs.marks.length > 0 ? 'content' : signs.location === null ? 'status' : 'redirect';
  return { verdict: isIn ? 'authenticated' : 'expired', decidedBy };
}

function fits(own: AnswerSigns, others: AnswerSigns, answer: SiteAnswer, marks: ReadonlySet<string>): boolean {
  return (
    answer.status === own.status &&
    placeOrNull(answer.location) === own.location &&
    own.marks.every((mark) => marks.has(mark)) &&
    !others.marks.some((mark) => marks.has(mark))
  );
}

function signsOf(own: readonly [SiteAnswer, SiteAnswer], others: readonly [SiteAnswer, SiteAnswer]): AnswerSigns {
  const [first, second] = own;
  const always = new Set(tokensOf(second.body));
  const elsewhere = new Set(others.flatMap(({ body }) => tokensOf(body)));
  const telling = [...new Set(tokensOf(first.body))].filter((token) => always.has(token) && !elsewhere.has(token));
  return {
    status: first.status,
    location: placeOrNull(first.location),
    marks: telling
      .toSorted((a, b) => rankOf(a) - rankOf(b))
      .slice(0, MAX_MARKS)
      .map(fingerprint),
  };
}

function rankOf(token: string): number {
  return SIGN_OUT.test(token) ? 0 : OWN_PLACE.test(token) ? 1 : 2;
}

/** Names and addresses in a page, without queries. Those with numbers in them are of one visit or one release. */
function tokensOf(body: string): string[] {
  return [...body.matchAll(ATTRIBUTE)]
    .map(([, double, single]) => (double ?? single ?? '').replace(/[?#].*$/, ''))
    .filter((token) => token.length > 1 && !/\d.*\d/.test(token));
}

function fingerprint(token: string): string {
  return createHash('sha256').update(token).digest('base64url').slice(0, 16);
}

function placeOrNull(location: string | null): string | null {
  return location === null ? null : hostAndPath(location);
}
