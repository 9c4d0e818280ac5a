import type { FormChoice, PageReading } from '../contract/reading.ts';
import { readChoices } from './choices/choices.ts';
import { readRoles } from './choices/role-picker.ts';
import type { Box, ControlFacts, FrameSnapshot } from './facts.ts';
import { type Candidates, describeCandidates } from './form/candidates.ts';
import type { Cluster } from './form/clusters.ts';
import { readFields, withoutError } from './form/fields.ts';
import { type LoginChoice, choicesKey, chooseLoginForm } from './form/login-form.ts';
import { readChoiceSubmit } from './form/submit.ts';
import { asksOnlyForProvider } from './form/usable-controls.ts';
import { classifyPage } from './page-kind.ts';
import { redactPersonalData } from './redact.ts';
import { detectLockout } from './signs/lockout.ts';
import { approvalMessage, externalActionMessage, mentionsMailedLink, showsSessionExpired } from './signs/page-signs.ts';
import { readSignInLink } from './signs/sign-in-links.ts';
import { markTotpSetup } from './signs/totp-setup.ts';
import { isCaptchaError, readWebsiteError } from './signs/website-error.ts';
import { textsOf } from './text/page-text.ts';

/** One decision and its place on the page. */
export interface Reason {
  readonly what: string;
  readonly why: string;
  /** CSS pixels within the frame; absent for decisions about the whole page. */
  readonly box?: Box;
  readonly frame: readonly string[];
  /** Whether it is part of the login or was rejected. */
  readonly taken: boolean;
}

/** A reading with its evidence. */
export interface PageAnalysis {
  readonly reading: PageReading;
  readonly reasons: readonly Reason[];
  /** True if the page shows a form for another purpose: it has rendered, so waiting longer is pointless. */
  readonly showsOtherForm: boolean;
  /** Forms between which the rules could not clearly decide; null if the choice was clear. */
  readonly candidates: Candidates | null;
}

/**
 * Determines what a page asks for, with the evidence of every decision, none of which quotes typed values. Pure, so that every
 * rule can be tested without a browser.
 * @param chosen the person's choice among the forms of earlier readings.
 */
export function analyzePage(url: string, frames: readonly FrameSnapshot[], chosen?: FormChoice): PageAnalysis {
  const choice = chooseLoginForm(frames, chosen);
  const form = choice.login;
  const fields = form ? readFields(form) : [];
  const button = fields.length > 0 ? form?.submit?.button : undefined;
  const submit = form && button ? { selector: button.selector, frame: [...form.frame.path] } : null;
  const signInLink = readSignInLink(frames);
  const offered = readChoices(frames, form, submit?.selector);
  const asksForRole = form === undefined && offered.length === 0 && signInLink === null;
  const choices = asksForRole ? readRoles(frames) : offered;
  const submitting = form === undefined && isSubmitting(frames);
  const sessionOver = showsSessionExpired(frames);
  const { kind, why } = classifyPage({
    url,
    frames,
    fields,
    asksOnlyForProvider: form !== undefined && asksOnlyForProvider(form),
    choices,
    signInLink,
    sessionOver,
    submitting,
  });
  const acceptsValues = kind === 'form' || (kind === 'external_action' && fields.length > 0);
  const isForm = kind === 'form';
  const error = kind === 'logged_in' ? null : readWebsiteError(frames, form);
  const lockOut =
    kind === 'logged_in' ? undefined : detectLockout(isForm ? [error ?? ''] : [error ?? '', ...shortTexts(frames)]);
  const forms = isForm ? choice.forms : kind === 'choice' ? [choicesKey(choices)] : [];
  const instruction = kind === 'external_action' ? (approvalMessage(frames) ?? externalActionMessage(frames)) : null;
  const asRead: PageReading = {
    url,
    kind,
    title: frames[0]?.facts.title ?? '',
    fields: acceptsValues ? fields.map((field) => withoutError(field, error)) : [],
    submit: acceptsValues ? submit : choices.some((each) => each.needs_submit) ? readChoiceSubmit(frames) : null,
    choices: kind === 'unavailable' || kind === 'logged_in' || kind === 'blocked' ? [] : choices,
    website_error: error,
    ...(isForm && error !== null && isCaptchaError(error) ? { wants_proof: true } : {}),
    ...(kind === 'other' && sessionOver ? { session_over: true } : {}),
    ...(lockOut === undefined ? {} : { lock_out: lockOut }),
    external_action_message: instruction,
    ...(instruction !== null && mentionsMailedLink(instruction) ? { mailed_link: true } : {}),
    sign_in_link: isForm || kind === 'logged_in' ? null : signInLink,
    ...(forms.length === 0 ? {} : { forms: [...forms] }),
  };
  const reading = markTotpSetup(asRead, frames);
  const reasons = [{ what: kind, why, frame: [], taken: true }, ...reasonsOf(choice)];
  const showsOtherForm = choice.rejected.some(({ cluster }) => cluster.controls.length >= 2);
  // A page that shows a secret is not described to a model.
  const candidates =
    isForm && reading.enrolment !== true && choice.contenders.length > 1
      ? describeCandidates(frames, choice.contenders)
      : null;
  return { reading, reasons, showsOtherForm, candidates };
}

/** True for a login that is filled in and disabled: it has been submitted and is not answered yet. */
function isSubmitting(frames: readonly FrameSnapshot[]): boolean {
  const isLocked = ({ visible, disabled, filled }: ControlFacts): boolean => visible && disabled && filled;
  if (!frames.some(({ facts }) => facts.controls.some(isLocked))) return false;
  const unlocked = frames.map(({ path, facts }) => ({
    path,
    facts: {
      ...facts,
      controls: facts.controls.map((each) => (isLocked(each) ? { ...each, disabled: false } : each)),
    },
  }));
  return chooseLoginForm(unlocked).login !== undefined;
}

/** Pages that only show a message are short. */
const MAX_TEXTS = 12;

function shortTexts(frames: readonly FrameSnapshot[]): string[] {
  const texts = textsOf(frames).filter(({ within }) => within === 'none');
  return texts.length <= MAX_TEXTS ? texts.map(({ text }) => text) : [];
}

function reasonsOf({ login, others, rejected }: LoginChoice): Reason[] {
  const reasons: Reason[] = [];
  const add = (cluster: Cluster, what: string, why: string, taken: boolean): void => {
    reasons.push({ what, why, box: cluster.box, frame: cluster.frame.path, taken });
    if (!taken) return;
    for (const { control, meaning, why: evidence } of cluster.controls) {
      reasons.push({ what: meaning, why: evidence, box: control.box, frame: cluster.frame.path, taken });
    }
  };
  if (login) {
    add(login, 'login', login.reasons.join('; '), true);
    const { submit } = login;
    if (submit)
      reasons.push({ what: 'submit', why: submit.why, box: submit.button.box, frame: login.frame.path, taken: true });
  }
  for (const other of others) add(other, 'another login', `less likely: ${other.reasons.join('; ')}`, false);
  for (const { cluster, reason } of rejected) add(cluster, 'not a login', reason, false);
  return reasons;
}

/** Characters. */
const MAX_EVIDENCE = 600;
const MAX_REASON = 160;

/**
 * Summarizes why a page was read as it was, for debugging failed logins: its kind first, then what was used and what was
 * rejected. Quotes the site's words without e-mail addresses and long numbers.
 */
export function summarizeReasons(reasons: readonly Reason[]): string {
  const parts = reasons.map(({ what, why }) => `${what}: ${why}`.slice(0, MAX_REASON));
  return redactPersonalData([...new Set(parts)].join(' · ')).slice(0, MAX_EVIDENCE);
}
