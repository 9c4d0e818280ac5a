import { assertNever } from '../../contract/assert-never.ts';
import type { Answer, CredentialFacts, FieldEntry, Observation } from '../../contract/activities.ts';
import type { FlowErrorCode } from '../../contract/connections.ts';
import type { CredentialVersion, TakenChoice } from '../../contract/document.ts';
import type { CodeChannel, PageReading, ReadChoice, ReadField } from '../../contract/reading.ts';
import { isAtVersion } from './credential-version.ts';
import { matchKeys, nameFields, type FieldMemory } from './field-refs.ts';
import { identifyChoices, identifyFields, type AskedChoice, type AskedField } from './interaction.ts';

/** What the loop remembers of the answer it entered last. */
export interface LastEntry {
  by: 'person' | 'credential';
  /** Names and types of what was typed or picked: tells whether the site asks for the same again. */
  fingerprint: string;
  /** True when a password went in, or a code. */
  typed: { password: boolean; code: boolean; totp: boolean };
  /** False when it is not known whether the entering reached the site. */
  certain: boolean;
  /** The second factor that was chosen: the page of its code need not say again how the code is sent. */
  method?: ReadChoice['mfa_type'];
}

/** Everything a decision depends on. */
export interface Situation {
  mode: 'attended' | 'unattended';
  observation: Observation;
  last: LastEntry | null;
  refused: CredentialVersion | null;
  /** The credential whose authenticator codes the site refused. */
  refusedCodes: CredentialVersion | null;
  /** How many codes of the saved secret were refused in this flow, one after the other. */
  codeRefusals: number;
  /** How many times a person's answer was refused in this flow. */
  rejections: number;
  /** How many answers were entered in this flow. */
  entered: number;
  /** Choices that the last good login took. */
  taken: readonly TakenChoice[];
  /** Fields that have their `ref` already. */
  fields: FieldMemory;
}

/** A form that waits for answers: who can give them is decided, the values are not here. */
export interface Question {
  fields: AskedField[];
  choices: AskedChoice[];
  /** Fields of the same form that the credential answers; they are typed together with the person's. */
  known: FieldEntry[];
  submit: Answer['submit'];
}

/** What to do next. */
export type Decision =
  | { do: 'finish' }
  | { do: 'enter'; answer: Answer }
  | { do: 'ask'; question: Question }
  | { do: 'wait'; message: string; question: Question }
  | { do: 'fail'; code: FlowErrorCode; message: string };

/** A flow never enters more answers than this. */
export const MAX_ENTRIES = 20;
/** A person's answers may be refused this often in one flow; sites lock accounts soon after. */
export const MAX_REJECTIONS = 6;

/** Decides the next step of a login from what the page shows. Pure: same situation, same decision. */
export function decide(given: Situation): Decision {
  const situation = { ...given, observation: withChosenChannel(given.observation, given.last) };
  const { reading } = situation.observation;
  if (situation.entered >= MAX_ENTRIES)
    return fail('max_steps_exceeded', 'The login took too many steps; start a new one');
  if (situation.rejections >= MAX_REJECTIONS)
    return fail('max_attempts_reached', 'The site refused the answers too often; start a new login later');
  const lockOut = lockOutOf(reading);
  if (lockOut !== null) return lockOut;
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
        : fail('unsupported_auth_method', 'The site accepts only a passkey; enable another sign-in method');
    case 'captcha':
      return fail('captcha_blocked', 'The site shows a captcha; try again later or use a proxy');
    case 'password_change':
      return fail('website_error', 'The site requires a new password; set it in your own browser, then log in again');
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

/** A site that lets nobody in for now is left alone, with a person there as well: every further try makes it worse. */
function lockOutOf({ kind, lock_out: why }: PageReading): Decision | null {
  if (why === undefined || kind === 'logged_in' || kind === 'blocked' || kind === 'unavailable') return null;
  return why === 'account_locked'
    ? fail('max_attempts_reached', 'The site has locked the account; unlock it there, then log in again')
    : fail(
        'max_attempts_reached',
        'The site takes no more attempts for now; wait as long as it says, then log in again',
      );
}

/** Codes whose page does not say how they are sent come the way that was chosen before. */
function withChosenChannel(observation: Observation, last: LastEntry | null): Observation {
  const channel = SENT_BY.find((each) => each === last?.method);
  if (channel === undefined) return observation;
  const fields = observation.reading.fields.map((field) =>
    field.type === 'code' && (field.channel ?? 'unknown') === 'unknown' ? { ...field, channel } : field,
  );
  return { ...observation, reading: { ...observation.reading, fields } };
}

const SENT_BY = ['sms', 'call', 'email'] as const;

/** A flow types secrets into no more sessions than this, one after the other. */
const MAX_SESSIONS_WITH_SECRETS = 3;

/**
 * What is left of the last answer when its session was lost and a new one, the flow's `sessions`th, has opened: nothing, for
 * the new one has seen no key, and where the site shows its empty form there, what is stored is typed. After a few
 * sessions the site may have refused what nobody has read: then it stays unknown.
 */
export function afterLostSession(last: LastEntry, sessions: number): LastEntry | null {
  const hadSecret = last.typed.password || last.typed.code;
  return hadSecret && sessions > MAX_SESSIONS_WITH_SECRETS ? { ...last, certain: false } : null;
}

const ASKS_FOR_VALUES = new Set<PageReading['kind']>(['form', 'external_action']);

/** True when the page asks again for what was entered last: the site refused it. */
export function wasRejected(observation: Observation, last: LastEntry | null): boolean {
  if (last === null || !last.certain || !ASKS_FOR_VALUES.has(observation.reading.kind)) return false;
  // The first fields were taken: a code has joined them in the same form.
  if (!last.typed.code && observation.reading.fields.some(({ held }) => held === true)) return false;
  const { fields } = observation.reading;
  if (fields.length > 0 && fingerprintOf(fields) === last.fingerprint) return true;
  return (
    observation.reading.website_error !== null &&
    last.typed.password &&
    observation.reading.fields.some((field) => field.type === 'password')
  );
}

/** Names and types of fields, in order. */
export function fingerprintOf(fields: ReadField[]): string {
  return fields.map(({ type, name }) => `${asksForCode(type) ? 'code' : type}:${name}`).join('|');
}

/** A page that refuses a code may say no more whose code it wants: of a code field, the type alone tells nothing new. */
export function asksForCode(type: ReadField['type']): boolean {
  return type === 'code' || type === 'totp_code';
}

function decideForm(situation: Situation): Decision {
  const { observation, last } = situation;
  const { reading, credential } = observation;
  const rejected = wasRejected(observation, last);
  if (reading.fields.length === 0) return decideChoice(situation);

  const preferred = preferredProvider(reading.choices, credential);
  if (preferred !== null && last === null) return pick(preferred, reading.submit);

  const refused = credential !== null && isAtVersion(credential, situation.refused);
  // A value that was typed already is not typed again unseen: not after a refusal, not after an entering of unknown end.
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
    return { do: 'enter', answer: { entries: known, submit: reading.submit, choice: null } };
  if (situation.mode === 'attended')
    return {
      do: 'ask',
      question: { fields: asked, choices: identifyChoices(reading.choices), known, submit: reading.submit },
    };
  return failUnanswered(missing.length > 0 ? missing : asked, situation, rejected, refused);
}

function isRejectedField(field: ReadField, situation: Situation, rejected: boolean, refused: boolean): boolean {
  if (refused && field.type === 'password') return true;
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
 * The saved secret, where it may answer a code. A code that nothing says was sent may be the authenticator's: it is tried
 * there once. An authenticator's code that was refused may have come a moment late: the next one is tried, and no third.
 */
function codeSource(field: ReadField, situation: Situation): FieldEntry['source'] | null {
  const { observation, last, refusedCodes, codeRefusals } = situation;
  const { credential } = observation;
  if (credential?.hasTotpSecret !== true || isAtVersion(credential, refusedCodes)) return null;
  const isAuthenticators = field.type === 'totp_code' || (field.channel ?? 'unknown') === 'unknown';
  const isFirst = last === null || (last.certain && !wasRejected(observation, last));
  const isRetry =
    field.type === 'totp_code' && last?.certain === true && isCodeAlone(last) && codeRefusals < MAX_CODE_REFUSALS;
  return isAuthenticators && (isFirst || isRetry) ? { kind: 'totp' } : null;
}

/** True of an answer that was a code of the saved secret, with no password that may have been what was refused. */
export function isCodeAlone({ by, typed }: LastEntry): boolean {
  return by === 'credential' && typed.totp && !typed.password;
}

/** So many codes of the saved secret in a row that are refused mean that it is the wrong secret. */
export const MAX_CODE_REFUSALS = 2;

function decideChoice(situation: Situation): Decision {
  const { reading, credential } = situation.observation;
  const choices =
    reading.kind === 'passkey' ? reading.choices.filter((choice) => !isPasskeyMethod(choice)) : reading.choices;
  if (choices.length === 0) return fail('login_form_not_found', 'The page has no field and no choice; set `login_url`');
  const preferred = preferredProvider(choices, credential);
  if (preferred !== null && situation.last === null) return pick(preferred, reading.submit);
  const fresh = situation.last?.fingerprint !== choiceFingerprint(reading.choices);
  const onward = choices.find((choice) => choice.agrees_to_nothing === true);
  if (onward !== undefined && fresh) return pick(onward, reading.submit);
  const totp = choices.find((choice) => choice.mfa_type === 'totp');
  if (credential?.hasTotpSecret === true && totp !== undefined && fresh) return pick(totp, reading.submit);
  const password = choices.find((choice) => choice.mfa_type === 'password' || choice.uses === 'password');
  if (credential?.valueKeys.includes('password') === true && password !== undefined && fresh)
    return pick(password, reading.submit);
  const again = situation.mode === 'unattended' && fresh ? choiceTakenBefore(choices, situation.taken) : null;
  if (again !== null) return pick(again, reading.submit);
  if (situation.mode === 'attended')
    return {
      do: 'ask',
      question: { fields: [], choices: identifyChoices(choices), known: [], submit: reading.submit },
    };
  if (choices.every((choice) => choice.type === 'other'))
    return fail('customer_input_required', 'The site asks for consent before it continues; log in once by hand');
  return choices.some((choice) => choice.type === 'mfa_method')
    ? fail('mfa_required', 'The site asks to choose a second factor; log in once by hand')
    : fail('account_choice_required', 'The site asks to choose how to sign in; log in once by hand');
}

/** The choice that the last login took of those that are offered: of several, the one that it took last. */
function choiceTakenBefore(choices: ReadChoice[], taken: readonly TakenChoice[]): ReadChoice | null {
  const known = taken.findLast((each) => choices.some((choice) => isSameChoice(each, choice)));
  const [same, another] = known === undefined ? [] : choices.filter((choice) => isSameChoice(known, choice));
  return another === undefined ? (same ?? null) : null;
}

/** What agrees to something was agreed to by a person, for that once: it is no choice to take again. */
function isSameChoice(taken: TakenChoice, choice: ReadChoice): boolean {
  return (
    choice.type !== 'other' &&
    taken.type === choice.type &&
    taken.provider === choice.provider &&
    taken.label === choice.label &&
    taken.masked_destination === choice.masked_destination
  );
}

/** A passkey stays on the person's own device: choosing it leads nowhere. */
function isPasskeyMethod(choice: ReadChoice): boolean {
  return choice.uses === 'passkey';
}

/** Identifies the choices of a page, as the memory of a pick. */
export function choiceFingerprint(choices: ReadChoice[]): string {
  return `choice:${choices.map((choice) => `${choice.label} ${choice.masked_destination ?? ''}`).join('|')}`;
}

function preferredProvider(choices: ReadChoice[], credential: CredentialFacts | null): ReadChoice | null {
  const wanted = credential?.ssoProvider?.toLowerCase();
  if (wanted === undefined) return null;
  return choices.find((choice) => choice.type === 'sso_provider' && choice.provider?.toLowerCase() === wanted) ?? null;
}

function pick(choice: ReadChoice, submit: Answer['submit']): Decision {
  return { do: 'enter', answer: { entries: [], submit, choice } };
}

function decideExternal(situation: Situation): Decision {
  const { observation, mode, last } = situation;
  const { reading } = observation;
  const named = nameFields(reading.fields, situation.fields);
  const [only, ...others] = named;
  const source = only === undefined || others.length > 0 ? null : codeSource(only.field, situation);
  // A code that nobody need be asked for is sooner there than somebody with a phone.
  if (only !== undefined && source !== null)
    return { do: 'enter', answer: { entries: [{ ...only, source }], submit: reading.submit, choice: null } };
  if (mode === 'unattended')
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

function failUnanswered(asked: AskedField[], situation: Situation, rejected: boolean, refused: boolean): Decision {
  const { last } = situation;
  if (last !== null && !last.certain)
    return fail('browser_error', 'The browser was lost while a credential was entered; start a new login');
  const { credential } = situation.observation;
  const hasRefusedCodes = credential?.hasTotpSecret === true && isAtVersion(credential, situation.refusedCodes);
  if (
    (rejected && last?.typed.totp === true) ||
    (hasRefusedCodes && asked.some(({ field }) => field.type === 'totp_code'))
  )
    return fail('totp_code_rejected', 'The site refused the codes of the saved secret; save the right one');
  if ((rejected && last?.typed.password === true) || (refused && asked.some(({ field }) => field.type === 'password')))
    return fail('credentials_invalid', 'The site refused the saved credential; change it or log in once by hand');
  if (rejected)
    return fail('credentials_invalid', 'The site refused the saved credential; change it or log in once by hand');
  const code = asked.find(({ field }) => asksForCode(field.type))?.field;
  if (code !== undefined) return failOfCode(code.type === 'totp_code' ? 'totp' : (code.channel ?? 'unknown'));
  return fail('customer_input_required', 'The credential lacks values that the site asks for; add them');
}

/** What a code that nobody is there to give ends a flow with. */
function failOfCode(channel: CodeChannel): Decision {
  switch (channel) {
    case 'totp':
      return fail('totp_required', 'The site asks for an authenticator code; save its TOTP secret');
    case 'email':
      return fail('email_code_required', 'The site asks for a code that it sent by email; log in once by hand');
    case 'sms':
      return fail('sms_code_required', 'The site asks for a code that it sent by text message; log in once by hand');
    case 'call':
      return fail(
        'customer_input_required',
        'The site asks for a code that it gives by phone call; log in once by hand',
      );
    case 'unknown':
      return fail('customer_input_required', 'The site asks for a code from an unknown sender; log in once by hand');
    default:
      return assertNever(channel);
  }
}

function fail(code: FlowErrorCode, message: string): Decision {
  return { do: 'fail', code, message };
}
