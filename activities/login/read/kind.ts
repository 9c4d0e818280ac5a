import type { PageKind, ReadChoice, ReadField } from '../../../contract/reading.ts';
import type { SeenFrame } from './login-group.ts';
import {
  outsideInstruction,
  saidBy,
  showsChallenge,
  showsOutage,
  showsRefusal,
  showsSignOut,
  speaksOfPasskeys,
} from './signs.ts';

/** What was found on the page so far. */
export interface Findings {
  readonly url: string;
  readonly frames: readonly SeenFrame[];
  readonly fields: readonly ReadField[];
  readonly choices: readonly ReadChoice[];
}

/** Says what a page is. What can be answered wins over what can only be waited for. */
export function kindOf({ url, frames, fields, choices }: Findings): PageKind {
  const top = frames[0]?.facts;
  if (!top || url.startsWith('chrome-error:')) return 'unavailable';
  const said = saidBy(frames);
  const title = top.title;
  if (fields.some((field) => field.type !== 'text')) return 'form';
  if (top.status >= 500) return 'unavailable';
  if (showsChallenge(frames, said)) return 'captcha';

  const answers = choices.filter((choice) => choice.type === 'mfa_method' || choice.type === 'account');
  const outside = outsideInstruction(frames);
  if (outside !== null && answers.every((choice) => choice.mfa_type === 'switch' || choice.type === 'mfa_method')) {
    if (answers.length < 2) return 'external_action';
  }
  if (answers.length > 0) return 'choice';
  if (showsSignOut(frames)) return 'logged_in';
  if (showsRefusal(said, title, top.status)) return 'blocked';
  const onlyPasskeys = choices.every((choice) => choice.type === 'auth_method');
  if (speaksOfPasskeys(said) && onlyPasskeys) return 'passkey';
  if (choices.length > 0) return 'choice';
  if (showsOutage(said, title)) return 'unavailable';
  if (said === '' && top.clickables.length === 0 && top.controls.length === 0) return 'unavailable';
  return 'other';
}
