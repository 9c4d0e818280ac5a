import type { Observation } from '../../contract/activities.ts';
import { asksForCode } from '../../contract/code-fields.ts';
import type { PageReading, ReadChoice, ReadField } from '../../contract/reading.ts';

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
  /** The saved passkey was tried in this session: it is not tried again. */
  passkey?: boolean;
  /** A new authenticator's first code went in. */
  enrols?: boolean;
  /** How many answers of this flow, this one included, a captcha beside the fields was answered for first. Absent for none. */
  proofs?: number;
}

/** So often a flow has a captcha answered and is told that it was not: then that is how the site refuses. */
const MAX_PROOFS = 2;

const ASKS_FOR_VALUES = new Set<PageReading['kind']>(['form', 'external_action']);

/** True when the page asks again for what was entered last: the site refused it. */
export function wasRejected(observation: Observation, last: LastEntry | null): boolean {
  if (last === null || !last.certain || !ASKS_FOR_VALUES.has(observation.reading.kind)) return false;
  // The first fields were taken: a code has joined them in the same form.
  if (!last.typed.code && observation.reading.fields.some(({ held }) => held === true)) return false;
  if (wantsMore(observation.reading, last)) return false;
  // What the site wants is beside the fields now: it has looked at nothing that was typed.
  const { wants_proof: wantsProof } = observation.reading;
  if (wantsProof === true && observation.unproved === true && (last.proofs ?? 0) < MAX_PROOFS) return false;
  const { fields } = observation.reading;
  if (fields.length > 0 && fingerprintOf(fields) === last.fingerprint) return true;
  return (
    observation.reading.website_error !== null &&
    last.typed.password &&
    observation.reading.fields.some((field) => field.type === 'password')
  );
}

/**
 * True of a form that still holds the password that went in with a code, and has grown by a field that must be answered, too: whose
 * devices a site lists, it knows by then, and the code it has not looked at.
 */
function wantsMore({ fields }: PageReading, { typed, fingerprint }: LastEntry): boolean {
  if (!typed.password || !typed.code) return false;
  const before = new Set(fingerprint.split('|'));
  const hasJoined = (field: ReadField): boolean =>
    field.required && field.type === 'text' && !before.has(fingerprintOf([field]));
  return fields.some(({ type, held }) => type === 'password' && held === true) && fields.some(hasJoined);
}

/**
 * Names and types of fields, in order. A page that refuses a code may say no more whose code it wants: of a code field, the
 * type alone tells nothing new.
 */
export function fingerprintOf(fields: ReadField[]): string {
  return fields.map(({ type, name }) => `${asksForCode(type) ? 'code' : type}:${name}`).join('|');
}

/** Identifies the choices of a page, as the memory of a pick. */
export function choiceFingerprint(choices: ReadChoice[]): string {
  return `choice:${choices.map((choice) => `${choice.label} ${choice.masked_destination ?? ''}`).join('|')}`;
}

/** True of an answer that was a code of the saved secret, with no password that may have been what was refused. */
export function isCodeAlone({ by, typed }: LastEntry): boolean {
  return by === 'credential' && typed.totp && !typed.password;
}

/** So many codes of the saved secret in a row that are refused mean that it is the wrong secret. */
export const MAX_CODE_REFUSALS = 2;

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
