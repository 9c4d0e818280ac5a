import type { FieldEntry, Observation } from '../../contract/activities.ts';
import { asksForCode } from '../../contract/code-fields.ts';
import type { PageReading, ReadChoice, ReadField } from '../../contract/reading.ts';
import { isAtVersion } from './credential-version.ts';
import { decideChoice, isPasskeyMethod, passkeyChoice, plannedChoice, preferredProvider } from './decide-choice.ts';
import { matchKeys, nameFields } from './field-refs.ts';
import { identifyChoices, identifyFields, type AskedField } from './interaction.ts';
import { isCodeOnly, MAX_CODE_REFUSALS, wasRejected, type LastEntry } from './last-entry.ts';
import { fail, pick, type Decision, type Situation } from './situation.ts';
import { failUnanswered } from './unanswered.ts';

/** Most answers that a flow enters. */
export const MAX_ENTRIES = 20;
/** How often a person's answers may be refused in one flow; sites lock accounts soon after. */
const MAX_REJECTIONS = 6;

/** Decides the next step of a login from what the page shows. Pure: same situation, same decision. */
export function decide(given: Situation): Decision {
  const situation = { ...given, observation: withChosenChannel(given.observation, given.last) };
  const { reading } = situation.observation;
  if (situation.entered >= MAX_ENTRIES)
    return fail('max_steps_exceeded', 'The login took too many steps; start a new one');
  if (situation.rejections >= MAX_REJECTIONS)
    return fail('max_attempts_reached', 'The site refused the answers too often; start a new login later');
  const lockOut = lockOutDecision(reading);
  if (lockOut !== null) return lockOut;
  if (reading.enrolment === true) return decideEnrollment(situation);
  const passkey = passkeyChoice(situation);
  if (passkey !== null) return pick(passkey, reading.submit);
  switch (reading.kind) {
    case 'logged_in':
      return { do: 'finish' };
    case 'form':
      return decideForm(situation);
    case 'choice':
      return decideChoice(situation);
    case 'external_action':
      return decideExternal(situation);
    case 'passkey':
      return reading.choices.some((choice) => !isPasskeyMethod(choice))
        ? decideChoice(situation)
        : fail(
            'unsupported_auth_method',
            'The site accepts only a passkey; add it to the credential or enable another sign-in method',
          );
    case 'captcha':
      return decideCaptcha(situation);
    case 'password_change':
      // An unattended flow meets it once: the password is not submitted again for the same result.
      return fail(
        situation.mode === 'attended' ? 'website_error' : 'customer_input_required',
        'The site requires a new password; set it in your own browser, then log in again',
      );
    case 'http_login':
      return fail(
        'unsupported_auth_method',
        'The site uses HTTP authentication, which is not supported; set `login_url` to a page with a login form',
      );
    case 'blocked':
      return fail('bot_detected', 'The site blocks the browser; try again later or use a proxy');
    case 'unavailable':
      return fail('network_error', 'The site cannot be reached or answers with an error; try again later');
    case 'other':
      return situation.entered === 0
        ? fail('login_form_not_found', 'No login form was found; set `login_url` to the page that has it')
        : fail(
            reading.website_error === null ? 'stuck_in_loop' : 'website_error',
            'After the last answer the site shows neither a form nor a logged-in page; start a new login',
          );
  }
}

/** A locked-out login is left alone, even with a person present: every further attempt makes it worse. */
function lockOutDecision({ kind, lock_out: reason }: PageReading): Decision | null {
  if (reason === undefined || kind === 'logged_in' || kind === 'blocked' || kind === 'unavailable') return null;
  return reason === 'account_locked'
    ? fail('max_attempts_reached', 'The site has locked the account; unlock it there, then log in again')
    : fail(
        'max_attempts_reached',
        'The site accepts no more attempts for now; wait as long as it says, then log in again',
      );
}

/** A code whose page does not say how it is sent comes by the method that was chosen before. */
function withChosenChannel(observation: Observation, last: LastEntry | null): Observation {
  const channel = DELIVERED_BY.find((each) => each === last?.method);
  if (channel === undefined) return observation;
  const fields = observation.reading.fields.map((field) =>
    field.type === 'code' && (field.channel ?? 'unknown') === 'unknown' ? { ...field, channel } : field,
  );
  return { ...observation, reading: { ...observation.reading, fields } };
}

const DELIVERED_BY = ['sms', 'call', 'email'] as const;

function decideForm(situation: Situation): Decision {
  const { observation, last } = situation;
  const { reading, credential } = observation;
  const rejected = wasRejected(observation, last);
  if (reading.fields.length === 0) return decideChoice(situation);

  const preferred = preferredProvider(reading.choices, credential);
  if (preferred !== null && last === null) return pick(preferred, reading.submit);
  const planned = plannedChoice(situation);
  if (planned !== null && situation.planned?.step.fields.length === 0) return pick(planned, reading.submit);

  const refused = credential !== null && isAtVersion(credential, situation.refused);
  // A value is never typed twice blindly: not after a rejection, not after an entry with an unknown outcome.
  const spent = last !== null && (rejected || !last.certain);
  const canReuse = (field: ReadField): boolean => !spent && !(refused && (field.type === 'password' || rejected));
  const known: FieldEntry[] = [];
  const asked: AskedField[] = [];
  const named = nameFields(reading.fields, situation.fields);
  const keys = credential === null ? [] : matchKeys(named, credential);
  for (const [index, { id, ref, field }] of identifyFields(named).entries()) {
    if (field.held === true) continue;
    const source = asksForCode(field.type)
      ? codeSource(field, situation)
      : canReuse(field)
        ? keySource(keys[index])
        : null;
    if (source !== null) known.push({ field, ref, source });
    else
      asked.push({
        id,
        ref,
        field,
        reason: isRejectedField(field, situation, rejected, refused) ? 'rejected' : 'missing',
      });
  }
  const missing = asked.filter(({ field }) => field.required);
  if (missing.length === 0 && known.length > 0)
    return { do: 'enter', answer: { entries: known, submit: reading.submit, choice: planned } };
  if (situation.mode === 'attended')
    return {
      do: 'ask',
      question: { fields: asked, choices: identifyChoices(reading.choices), known, submit: reading.submit },
    };
  if (!refused && isAutomaticCode(missing.length > 0 ? missing : asked, situation, rejected))
    return { do: 'ask', question: { fields: asked, choices: [], known, submit: reading.submit } };
  return failUnanswered(missing.length > 0 ? missing : asked, situation, rejected, refused);
}

/** A page that sets up a new authenticator: its secret is saved only if a person agrees. */
function decideEnrollment({ observation: { reading }, mode, canSave, last, fields }: Situation): Decision {
  const skip = reading.choices.find((choice) => choice.agrees_to_nothing === true);
  if (mode === 'unattended')
    return skip === undefined
      ? fail('customer_input_required', 'The site asks to set up an authenticator; log in once by hand')
      : pick(skip, reading.submit);
  const reason = last?.isEnrollment === true ? 'rejected' : 'missing';
  const asked = identifyFields(nameFields(reading.fields, fields)).map((field) => ({ ...field, reason }) as const);
  const choices = canSave === true ? [NEW_AUTHENTICATOR, ...reading.choices] : reading.choices;
  return {
    do: 'ask',
    question: { fields: asked, choices: identifyChoices(choices), known: [], submit: reading.submit },
  };
}

/** A choice added to those of the page: Holdfast becomes the authenticator. */
const NEW_AUTHENTICATOR: ReadChoice = {
  type: 'other',
  label: 'Let Holdfast store this authenticator',
  description: 'Holdfast stores its key encrypted, types the first code now and uses its codes to sign in from then on',
  uses: 'new_authenticator',
  selector: '',
  xpath: '',
  masked_destination: null,
  frame: [],
};

function isRejectedField(field: ReadField, situation: Situation, rejected: boolean, refused: boolean): boolean {
  if (refused && field.type === 'password') return true;
  if (field.captcha === true && situation.observation.reading.wants_proof === true) return true;
  if (!rejected || situation.last === null) return false;
  const { typed } = situation.last;
  if (field.type === 'password') return typed.password;
  if (asksForCode(field.type)) return typed.code;
  return !typed.password && !typed.code;
}

function keySource(key: string | null | undefined): FieldEntry['source'] | null {
  return typeof key === 'string' ? { kind: 'credential', key } : null;
}

/**
 * The saved secret, if it may answer this code. A code of unknown origin is tried once, as it may be the authenticator's. A
 * refused authenticator code may have been a moment late: the next one is tried, but not a third.
 */
function codeSource(field: ReadField, situation: Situation): FieldEntry['source'] | null {
  const { observation, last, refusedCodes, codeRefusals } = situation;
  const { credential } = observation;
  if (credential?.hasTotpSecret !== true || isAtVersion(credential, refusedCodes)) return null;
  const isAuthenticators = field.type === 'totp_code' || (field.channel ?? 'unknown') === 'unknown';
  const isFirst = last === null || (last.certain && !wasRejected(observation, last));
  const isRetry =
    field.type === 'totp_code' && last?.certain === true && isCodeOnly(last) && codeRefusals < MAX_CODE_REFUSALS;
  return isAuthenticators && (isFirst || isRetry) ? { kind: 'totp' } : null;
}

function decideExternal(situation: Situation): Decision {
  const { observation, mode, last } = situation;
  const { reading } = observation;
  const named = nameFields(reading.fields, situation.fields);
  const [only, ...others] = named;
  const source = only === undefined || others.length > 0 ? null : codeSource(only.field, situation);
  // A code that needs nobody's input is faster than a person with a phone.
  if (only !== undefined && source !== null)
    return { do: 'enter', answer: { entries: [{ ...only, source }], submit: reading.submit, choice: null } };
  const planned = plannedChoice(situation);
  if (planned !== null) return pick(planned, reading.submit);
  if (mode === 'unattended' && !isAutomaticLink(situation))
    return fail('external_action_required', 'The site asks for an action elsewhere; log in once by hand');
  const reason = wasRejected(observation, last) && last?.typed.code === true ? 'rejected' : 'missing';
  return {
    do: 'wait',
    message: reading.external_action_message ?? 'Confirm the sign-in as the site asks (on your phone or by email)',
    question: {
      fields: identifyFields(named).map((field) => ({ ...field, reason })),
      choices: identifyChoices(reading.choices),
      known: [],
      submit: reading.submit,
    },
  };
}

/** True for a page that waits for a mailed link, if links arrive automatically. */
function isAutomaticLink({ observation: { reading }, codeChannels }: Situation): boolean {
  return reading.mailed_link === true && codeChannels.includes('email');
}

/** True for a single code that arrives automatically. After a refused one, no other is waited for. */
function isAutomaticCode(asked: AskedField[], { last, codeChannels }: Situation, rejected: boolean): boolean {
  const [only, ...others] = asked;
  if (only?.field.type !== 'code' || others.length > 0 || rejected || last?.certain === false) return false;
  return codeChannels.includes(only.field.channel ?? 'unknown');
}

/** A captcha is given to the solver, if there is one, and then to a person, who answers it on the page itself. */
export function decideCaptcha({
  mode,
  observation,
  canAskSolver,
}: Pick<Situation, 'mode' | 'observation' | 'canAskSolver'>): Extract<Decision, { do: 'solve' | 'wait' | 'fail' }> {
  if (observation.solvable === true && canAskSolver === true) return { do: 'solve' };
  if (mode === 'unattended')
    return fail('captcha_blocked', 'The site shows a captcha; log in once by hand or use a proxy');
  const question = { fields: [], choices: [], known: [], submit: null };
  const message =
    observation.reading.kind === 'form'
      ? 'The site asks for proof that you are human: complete the check beside the login; the fields are filled in after that'
      : 'The site asks for proof that you are human: solve the puzzle it shows';
  return { do: 'wait', message, question };
}
