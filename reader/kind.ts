import type { PageKind, PageReading, ReadChoice, ReadField } from '../contract/reading.ts';
import { asksNewPassword, type SeenFrame } from './clusters.ts';
import { identifierWords, normalize } from './normalize.ts';
import {
  asksByHttp,
  isErrorPage,
  outsideInstruction,
  saidBy,
  showsChallenge,
  showsOutage,
  showsPuzzle,
  showsRefusal,
  showsSignOut,
  speaksOfPasskeys,
  topicOf,
} from './signs.ts';
import { SIGN_IN } from './words.ts';

/** What was found on the page so far. */
export interface Findings {
  readonly url: string;
  readonly frames: readonly SeenFrame[];
  readonly fields: readonly ReadField[];
  readonly choices: readonly ReadChoice[];
  readonly signInLink: PageReading['sign_in_link'];
}

/** Says what a page is. What can be answered wins over what can only be waited for. */
export function kindOf({ url, frames, fields, choices, signInLink }: Findings): PageKind {
  const top = frames[0]?.facts;
  if (!top) return 'unavailable';
  const said = saidBy(frames);
  if (asksByHttp(top.status, said)) return 'http_login';
  if (isErrorPage(url)) return 'unavailable';
  const topic = topicOf(frames);
  if (showsPuzzle(frames)) return 'captcha';
  if (fields.some((field) => field.type !== 'text')) return 'form';
  if (top.status >= 500) return 'unavailable';
  if (showsChallenge(frames, topic, said)) return 'captcha';

  const answers = choices.filter((choice) => choice.type === 'mfa_method' || choice.type === 'account');
  const outside = outsideInstruction(frames);
  if (outside !== null && answers.every((choice) => choice.mfa_type === 'switch' || choice.type === 'mfa_method')) {
    if (answers.length < 2) return 'external_action';
  }
  if (answers.length > 0) return 'choice';
  if (showsSignOut(frames)) return 'logged_in';
  if (frames.some(({ facts }) => asksNewPassword(facts))) return 'password_change';
  if (showsRefusal(topic, said, top.status)) return 'blocked';
  const onlyPasskeys = choices.every((choice) => choice.type === 'auth_method');
  if (speaksOfPasskeys(topic) && onlyPasskeys) return 'passkey';
  if (choices.length > 0 && !leadsElsewhere(url, top.title, signInLink)) return 'choice';
  if (showsOutage(topic, said)) return 'unavailable';
  if (said === '' && top.clickables.length === 0 && top.controls.length === 0) return 'unavailable';
  return 'other';
}

/** A home page may offer a provider, too; where it links to a login page, the login is there. */
function leadsElsewhere(url: string, title: string, link: PageReading['sign_in_link']): boolean {
  if (!link?.href) return false;
  const here = new URL(url);
  const there = new URL(link.href);
  if (here.origin === there.origin && here.pathname === there.pathname) return false;
  return !SIGN_IN.test(identifierWords(here.pathname)) && !SIGN_IN.test(normalize(title));
}
