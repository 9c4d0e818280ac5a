import { asksForCode } from '../contract/code-fields.ts';
import type { PageKind, PageReading, ReadChoice, ReadField } from '../contract/reading.ts';
import { asksToAcceptTerms, canPostpone } from './choices/interstitials.ts';
import type { FrameSnapshot } from './facts.ts';
import { asksNewPassword } from './form/usable-controls.ts';
import {
  PASSKEY_OFFER,
  approvalMessage,
  blockedEvidence,
  demandsNewPassword,
  externalActionMessage,
  isBrowserErrorPage,
  isChallengePage,
  isHttpAuthPrompt,
  isLoadingPage,
  isOutagePage,
  mentionsPasskeys,
  showsOpenPuzzle,
} from './signs/page-signs.ts';
import { signedInEvidence } from './signs/signed-in.ts';
import { identifierWords, normalize } from './text/normalize.ts';
import { pageTopic, visibleText } from './text/page-text.ts';
import { SIGN_IN } from './text/words.ts';

/** What the other rules found on the page. */
interface Findings {
  readonly url: string;
  readonly frames: readonly FrameSnapshot[];
  readonly fields: readonly ReadField[];
  /** The only field is an identity provider list. */
  readonly asksOnlyForProvider: boolean;
  readonly choices: readonly ReadChoice[];
  readonly signInLink: PageReading['sign_in_link'];
  /** A dialog says that the session has expired. */
  readonly sessionOver: boolean;
  /** A login has been submitted and is not answered yet. */
  readonly submitting: boolean;
}

/** Determines the kind of a page, and why. What can be answered wins over what can only be waited for. */
export function classifyPage({
  url,
  frames,
  fields,
  asksOnlyForProvider,
  choices,
  signInLink,
  sessionOver,
  submitting,
}: Findings): {
  kind: PageKind;
  why: string;
} {
  const is = (kind: PageKind, why: string): { kind: PageKind; why: string } => ({ kind, why });
  const top = frames[0]?.facts;
  if (!top) return is('unavailable', 'the page does not respond');
  const said = visibleText(frames);
  if (isHttpAuthPrompt(top.status, said)) return is('http_login', 'status 401 and an empty page');
  if (isBrowserErrorPage(url)) return is('unavailable', "the browser's error page");
  const topic = pageTopic(frames);
  if (showsOpenPuzzle(frames)) return is('captcha', 'a puzzle lies over the page');
  if (mayWaitForApproval(fields) && approvalMessage(frames) !== null)
    return is('external_action', 'asks to agree on another device, and takes a code instead');
  if (fields.some((field) => field.type !== 'text')) return is('form', 'has the fields of a login');
  if (asksOnlyForProvider) return is('form', 'asks where to sign in');
  if (top.status >= 500) return is('unavailable', `status ${top.status}`);
  if (isChallengePage(frames, topic, said)) return is('captcha', 'a captcha and little else');

  const answers = choices.filter((choice) => choice.type === 'mfa_method' || choice.type === 'account');
  const outside = externalActionMessage(frames);
  if (outside !== null && answers.every((choice) => choice.mfa_type === 'switch' || choice.type === 'mfa_method')) {
    if (answers.length < 2) return is('external_action', 'asks for an action outside the page');
  }
  if (answers.length > 0) return is('choice', 'offers methods or accounts');
  if (sessionOver) return is('other', 'a dialog says that the session has expired');
  if (asksToAcceptTerms(frames)) return is('other', 'asks to accept terms');
  const setsPassword = frames.some(({ facts }) => asksNewPassword(facts));
  if (setsPassword && demandsNewPassword(frames)) return is('password_change', 'demands a new password');
  if (setsPassword && canPostpone(frames)) return is('other', 'asks for a new password, which may wait');
  const inside = signedInEvidence(frames);
  if (inside !== null) return is('logged_in', inside);
  if (submitting) return is('unavailable', 'a submitted login is waiting for its response');
  if (setsPassword) return is('password_change', 'a new password is to be set');
  const refusal = blockedEvidence(frames, topic, said, top.status);
  // A forbidden page that links to a login is meant for anonymous visitors; it does not block the browser.
  if (refusal !== null && signInLink === null) return is('blocked', refusal);
  const onlyPasskeys = choices.every((choice) => choice.type === 'auth_method');
  const asksForPasskey = mentionsPasskeys(topic) && !(choices.length === 0 && PASSKEY_OFFER.test(topic));
  if (asksForPasskey && onlyPasskeys) return is('passkey', 'mentions passkeys and offers nothing else');
  // A link to log in with a password instead is one of the ways.
  const isOffered = choices.some(({ selector, uses }) => uses === 'password' && selector === signInLink?.selector);
  if (choices.length > 0 && (isOffered || !isLoginElsewhere(url, top.title, signInLink)))
    return is('choice', 'offers ways to sign in');
  if (isOutagePage(frames, topic, said)) return is('unavailable', 'announces an outage');
  if (isLoadingPage(frames)) return is('unavailable', 'only a loading indicator');
  if (said === '' && top.clickables.length === 0 && top.controls.length === 0)
    return is('unavailable', 'an empty page');
  return is('other', 'asks for no credentials');
}

/** True for fields that only take a code that was not sent: an approval may be pending on another device. */
function mayWaitForApproval(fields: readonly ReadField[]): boolean {
  const wasSent = ({ channel }: ReadField): boolean => channel === 'sms' || channel === 'call' || channel === 'email';
  return fields.length > 0 && fields.every((field) => asksForCode(field.type) && !wasSent(field));
}

/** A home page may offer a provider, but if it links to a login page, the login is there. */
function isLoginElsewhere(url: string, title: string, link: PageReading['sign_in_link']): boolean {
  if (!link?.href) return false;
  const here = new URL(url);
  const there = new URL(link.href);
  if (here.origin === there.origin && here.pathname === there.pathname) return false;
  return !SIGN_IN.test(identifierWords(here.pathname)) && !SIGN_IN.test(normalize(title));
}
