import { createHash } from 'node:crypto';
import type { ResponseSignature, RequestCheck } from '../../../contract/document.ts';
import { hostAndPath } from '../urls.ts';

/** The site's response to one request. Contains page content, so it never leaves the activity. */
export interface SiteResponse {
  status: number;
  /** Absolute URL it redirects to, or null. */
  location: string | null;
  body: string;
}

/** What a response says about a session, and which part of it decided. */
type RequestVerdict =
  | { verdict: 'authenticated' | 'expired'; decidedBy: 'status' | 'redirect' | 'content' }
  | { verdict: 'unsure' };

/** This many marks identify a page; more only become stale sooner. */
const MAX_MARKS = 3;
/** Names and URLs in markup: the structure of a page, not its content. */
const ATTRIBUTE = /\s(?:href|action|id|name|data-testid)\s*=\s*(?:"([^"]{2,120})"|'([^']{2,120})')/gi;
const SIGN_OUT = /log-?_?(out|off)|sign-?_?(out|off)|abmelde|deconnexion|cerrar-?sesion/i;
const ACCOUNT_PATH = /account|profile|settings|dashboard|preferences|konto|mein/i;

/**
 * Learns what distinguishes a signed-in response from a signed-out one, from two of each, so that unstable differences are
 * ignored. Null if nothing does, or if the rule would mistake an outage for a session. Pure.
 */
export function learnRule(
  signedIn: readonly [SiteResponse, SiteResponse],
  signedOut: readonly [SiteResponse, SiteResponse],
): Pick<RequestCheck, 'signedIn' | 'signedOut'> | null {
  const rule = {
    signedIn: signsOf(signedIn, signedOut),
    signedOut: signsOf(signedOut, signedIn),
  };
  // Without marks of its own, the signed-in page could be any page with that status.
  if (signedIn[0].status < 300 && rule.signedIn.marks.length === 0) return null;
  const holds =
    signedIn.every((answer) => applyRule(rule, answer).verdict === 'authenticated') &&
    signedOut.every((answer) => applyRule(rule, answer).verdict === 'expired');
  return holds ? rule : null;
}

/** Applies a rule to a response. `unsure` unless it matches exactly one side. Pure. */
export function applyRule(rule: Pick<RequestCheck, 'signedIn' | 'signedOut'>, answer: SiteResponse): RequestVerdict {
  const marks = new Set(tokensOf(answer.body).map(fingerprint));
  const isIn = matches(rule.signedIn, rule.signedOut, answer, marks);
  const isOut = matches(rule.signedOut, rule.signedIn, answer, marks);
  if (isIn === isOut) return { verdict: 'unsure' };
  const signs = isIn ? rule.signedIn : rule.signedOut;
  const decidedBy = signs.marks.length > 0 ? 'content' : signs.location === null ? 'status' : 'redirect';
  return { verdict: isIn ? 'authenticated' : 'expired', decidedBy };
}

function matches(
  own: ResponseSignature,
  others: ResponseSignature,
  answer: SiteResponse,
  marks: ReadonlySet<string>,
): boolean {
  return (
    answer.status === own.status &&
    placeOrNull(answer.location) === own.location &&
    own.marks.every((mark) => marks.has(mark)) &&
    !others.marks.some((mark) => marks.has(mark))
  );
}

function signsOf(
  own: readonly [SiteResponse, SiteResponse],
  others: readonly [SiteResponse, SiteResponse],
): ResponseSignature {
  const [first, second] = own;
  const stable = new Set(tokensOf(second.body));
  const foreign = new Set(others.flatMap(({ body }) => tokensOf(body)));
  const distinctive = [...new Set(tokensOf(first.body))].filter((token) => stable.has(token) && !foreign.has(token));
  return {
    status: first.status,
    location: placeOrNull(first.location),
    marks: distinctive
      .toSorted((a, b) => rankOf(a) - rankOf(b))
      .slice(0, MAX_MARKS)
      .map(fingerprint),
  };
}

function rankOf(token: string): number {
  return SIGN_OUT.test(token) ? 0 : ACCOUNT_PATH.test(token) ? 1 : 2;
}

/** Names and URLs in a page, without queries. Those with several digits are specific to a visit or release. */
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
