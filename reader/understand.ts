import type { PageReading } from '../contract/reading.ts';
import { readChoices } from './choices.ts';
import { readFields } from './fields.ts';
import { kindOf } from './kind.ts';
import type { SeenFrame } from './clusters.ts';
import { chooseLogin } from './login-cluster.ts';
import { readSignInLink } from './sign-in-link.ts';
import { outsideInstruction } from './signs.ts';
import { readChoiceSubmit } from './submit.ts';
import { readWebsiteError } from './website-error.ts';

/** Judges the facts of a page: pure, so that every rule can be tested without a browser. */
export function understand(url: string, frames: readonly SeenFrame[]): PageReading {
  const { login: form } = chooseLogin(frames);
  const fields = form ? readFields(form) : [];
  const button = fields.length > 0 ? form?.submit?.button : undefined;
  const submit = form && button ? { selector: button.selector, frame: [...form.frame.path] } : null;
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
