import type { CredentialFacts } from '../../contract/activities.ts';
import type { PageReading, ReadChoice } from '../../contract/reading.ts';
import { identifyChoices } from './interaction.ts';
import { choiceFingerprint } from './last-entry.ts';
import { fail, pick, type Decision, type Situation } from './situation.ts';

/** What to do on a page that offers choices. */
export function decideChoice(situation: Situation): Decision {
  const { reading, credential } = situation.observation;
  const choices =
    reading.kind === 'passkey' ? reading.choices.filter((choice) => !isPasskeyMethod(choice)) : reading.choices;
  if (choices.length === 0) return fail('login_form_not_found', 'The page has no field and no choice; set `login_url`');
  const preferred = preferredProvider(choices, credential);
  if (preferred !== null && situation.last === null) return pick(preferred, reading.submit);
  const isNew = situation.last?.fingerprint !== choiceFingerprint(reading.choices);
  const planned = plannedChoice(situation);
  // An earlier choice that needs nobody's consent.
  if (planned?.agrees_to_nothing === true) return pick(planned, reading.submit);
  const canSave =
    situation.canSave === true || (situation.canSaveExternally === true && credential?.takesPasskeys === true);
  const isOffer = situation.mode === 'attended' && canSave && choices.some(isNewPasskey);
  const skip = isOffer ? undefined : choices.find((choice) => choice.agrees_to_nothing === true);
  if (skip !== undefined && isNew) return pick(skip, reading.submit);
  const totp = choices.find((choice) => choice.mfa_type === 'totp');
  if (credential?.hasTotpSecret === true && totp !== undefined && isNew) return pick(totp, reading.submit);
  const password = choices.find((choice) => choice.mfa_type === 'password' || choice.uses === 'password');
  if (credential?.valueKeys.includes('password') === true && password !== undefined && isNew)
    return pick(password, reading.submit);
  if (planned !== null) return pick(planned, reading.submit);
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

/** The choice that a plan takes on this page, unless it was just taken. */
export function plannedChoice({ observation: { reading }, planned, last }: Situation): ReadChoice | null {
  if (planned === null || last?.fingerprint === choiceFingerprint(reading.choices)) return null;
  return planned.choice;
}

/** The sign-in by the saved passkey, which needs no input: tried before all others, once. */
export function passkeyChoice({ observation, last }: Situation): ReadChoice | null {
  const { reading, credential } = observation;
  if (credential?.hasPasskey !== true || last?.passkey === true || !OFFERS_PASSKEYS.has(reading.kind)) return null;
  return reading.choices.find(isPasskeyMethod) ?? null;
}

const OFFERS_PASSKEYS = new Set<PageReading['kind']>(['form', 'choice', 'passkey', 'external_action']);

/** True for a button that has the site create a passkey, which a person must agree to. */
function isNewPasskey(choice: ReadChoice): boolean {
  return choice.uses === 'new_passkey';
}

/** True for a passkey sign-in; one that is not saved stays on the person's own device and cannot be used. */
export function isPasskeyMethod(choice: ReadChoice): boolean {
  return choice.uses === 'passkey';
}

/** The choice of the provider that the credential names. */
export function preferredProvider(choices: ReadChoice[], credential: CredentialFacts | null): ReadChoice | null {
  const wanted = credential?.ssoProvider?.toLowerCase();
  if (wanted === undefined) return null;
  return choices.find((choice) => choice.type === 'sso_provider' && choice.provider?.toLowerCase() === wanted) ?? null;
}
