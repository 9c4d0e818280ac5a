import type { PageReading } from '../contract/reading.ts';
import { readChoices } from './choices.ts';
import { readFields } from './fields.ts';
import { kindOf } from './kind.ts';
import { chooseLoginGroup, type SeenFrame } from './login-group.ts';
import { readSignInLink } from './sign-in-link.ts';
import { outsideInstruction } from './signs.ts';
import { readChoiceSubmit, readSubmit } from './submit.ts';
import { readWebsiteError } from './website-error.ts';

/** Judges the facts of a page: pure, so that every rule can be tested without a browser. */
export function understand(url: string, frames: readonly SeenFrame[]): PageReading {
  const form = chooseLoginGroup(frames);
  const fields = form ? readFields(form) : [];
  const submit = form && fields.length > 0 ? readSubmit(form) : null;
  const choices = readChoices(frames, form, submit?.selector);
  const signInLink = readSignInLink(frames);
  const kind = kindOf({ url, frames, fields, choices, signInLink });
  const isForm = kind === 'form';
  return {
    url,
    kind,
    title: frames[0]?.facts.title ?? '',
    fields: isForm ? fields : [],
    submit: isForm ? submit : choices.some((choice) => choice.needs_submit) ? readChoiceSubmit(frames) : null,
    choices: kind === 'unavailable' || kind === 'logged_in' || kind === 'blocked' ? [] : choices,
    website_error: kind === 'logged_in' ? null : readWebsiteError(frames, form),
    external_action_message: kind === 'external_action' ? outsideInstruction(frames) : null,
    sign_in_link: isForm || kind === 'logged_in' ? null : signInLink,
  };
}
