import type { Observation } from '../../contract/activities.ts';
import { asksForCode } from '../../contract/code-fields.ts';
import type { PageReading, ReadChoice, ReadField } from '../../contract/reading.ts';

/** The answer that a flow entered last. */
export interface LastEntry {
  by: 'person' | 'credential';
  /** Names and types of what was typed or picked: shows whether the site asks for the same again. */
  fingerprint: string;
  /** Whether a password, a code, or a code of the saved secret was typed. */
  typed: { password: boolean; code: boolean; totp: boolean };
  /** False if it is unknown whether the entry reached the site. */
  certain: boolean;
  /** The second factor that was chosen, for code pages that do not say how the code is sent. */
  method?: ReadChoice['mfa_type'];
  /** The saved passkey was tried in this session and is not tried again. */
  passkey?: boolean;
  /** It was the first code of a new authenticator. */
  isEnrollment?: boolean;
  /** How many answers of this flow, up to this one, needed a captcha beside the fields. Absent for none. */
  captchas?: number;
}

/** A site that still asks for a captcha after this many were answered uses it to reject the answer. */
const MAX_CAPTCHAS = 2;

const ASKS_FOR_VALUES = new Set<PageReading['kind']>(['form', 'external_action']);

/** True if the page asks again for what was entered last: the site rejected it. */
export function wasRejected(observation: Observation, last: LastEntry | null): boolean {
  if (last === null || !last.certain || !ASKS_FOR_VALUES.has(observation.reading.kind)) return false;
  // The first fields were accepted, and a code was added to the same form.
  if (!last.typed.code && observation.reading.fields.some(({ held }) => held === true)) return false;
  if (hasNewField(observation.reading, last)) return false;
  if (isUnchecked(observation, last)) return false;
  const { fields } = observation.reading;
  if (fields.length > 0 && fingerprintOf(fields) === last.fingerprint) return true;
  return (
    observation.reading.website_error !== null &&
    last.typed.password &&
    observation.reading.fields.some((field) => field.type === 'password')
  );
}

/** True if the site wants the captcha beside the fields, or other characters of its picture: it has not checked what was typed. */
function isUnchecked({ reading, unproved }: Observation, { captchas = 0 }: LastEntry): boolean {
  if (reading.wants_proof !== true) return false;
  return (unproved === true && captchas < MAX_CAPTCHAS) || reading.fields.some(({ captcha }) => captcha === true);
}

/** True if a required field was added to a form that still holds its password: the site has not checked the code yet. */
function hasNewField({ fields }: PageReading, { typed, fingerprint }: LastEntry): boolean {
  if (!typed.password || !typed.code) return false;
  const before = new Set(fingerprint.split('|'));
  const isNew = (field: ReadField): boolean =>
    field.required && field.type === 'text' && !before.has(fingerprintOf([field]));
  return fields.some(({ type, held }) => type === 'password' && held === true) && fields.some(isNew);
}

/** Names and types of fields. Both code types count as one: a page may stop saying whose code it wants. */
export function fingerprintOf(fields: ReadField[]): string {
  return fields.map(({ type, name }) => `${asksForCode(type) ? 'code' : type}:${name}`).join('|');
}

/** Identifies the choices of a page. */
export function choiceFingerprint(choices: ReadChoice[]): string {
  return `choice:${choices.map((choice) => `${choice.label} ${choice.masked_destination ?? ''}`).join('|')}`;
}

/** True for an answer that was a code of the saved secret without a password, which might be what was rejected instead. */
export function isCodeOnly({ by, typed }: LastEntry): boolean {
  return by === 'credential' && typed.totp && !typed.password;
}

/** This many consecutive rejected codes mean that the saved secret is wrong. */
export const MAX_CODE_REFUSALS = 2;

/** Most sessions of one flow that secrets are typed into. */
const MAX_SESSIONS_WITH_SECRETS = 3;

/**
 * What remains of the last answer after its session was lost and the flow's `sessions`th was opened: nothing, because the new
 * one has received no input. After a few sessions the site may have rejected an answer unseen, so its outcome stays unknown.
 */
export function afterLostSession(last: LastEntry, sessions: number): LastEntry | null {
  const hadSecret = last.typed.password || last.typed.code;
  return hadSecret && sessions > MAX_SESSIONS_WITH_SECRETS ? { ...last, certain: false } : null;
}
