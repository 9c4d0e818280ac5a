import type { CredentialFacts } from '../../contract/activities.ts';
import type { PageReading, ReadChoice } from '../../contract/reading.ts';
import { identifyChoices } from './interaction.ts';
import { choiceFingerprint } from './last-entry.ts';
import { fail, pick, type Decision, type Situation } from './situation.ts';

/** What to do on a page that offers ways to go on. */
export function decideChoice(situation: Situation): Decision {
  const { reading, credential } = situation.observation;
  const choices =
    reading.kind === 'passkey' ? reading.choices.filter((choice) => !isPasskeyMethod(choice)) : reading.choices;
  if (choices.length === 0) return fail('login_form_not_found', 'The page has no field and no choice; set `login_url`');
  const preferred = preferredProvider(choices, credential);
  if (preferred !== null && situation.last === null) return pick(preferred, reading.submit);
  const fresh = situation.last?.fingerprint !== choiceFingerprint(reading.choices);
  const planned = plannedChoice(situation);
  // What was chosen before, of the ways that nobody need be asked for.
  if (planned?.agrees_to_nothing === true) return pick(planned, reading.submit);
  const mayKeep = situation.mayKeep === true || (situation.mayWrite === true && credential?.takesPasskeys === true);
  const isOffer = situation.mode === 'attended' && mayKeep && choices.some(isNewPasskey);
  const onward = isOffer ? undefined : choices.find((choice) => choice.agrees_to_nothing === true);
  if (onward !== undefined && fresh) return pick(onward, reading.submit);
  const totp = choices.find((choice) => choice.mfa_type === 'totp');
  if (credential?.hasTotpSecret === true && totp !== undefined && fresh) return pick(totp, reading.submit);
  const password = choices.find((choice) => choice.mfa_type === 'password' || choice.uses === 'password');
  if (credential?.valueKeys.includes('password') === true && password !== undefined && fresh)
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

/** The choice that a plan takes on this page, unless it was what was taken just now. */
export function plannedChoice({ observation: { reading }, planned, last }: Situation): ReadChoice | null {
  if (planned === null || last?.fingerprint === choiceFingerprint(reading.choices)) return null;
  return planned.choice;
}

/** The way in by the saved passkey, which asks nobody for anything: before all others, once. */
export function passkeyChoice({ observation, last }: Situation): ReadChoice | null {
  const { reading, credential } = observation;
  if (credential?.hasPasskey !== true || last?.passkey === true || !OFFERS_PASSKEYS.has(reading.kind)) return null;
  return reading.choices.find(isPasskeyMethod) ?? null;
}

const OFFERS_PASSKEYS = new Set<PageReading['kind']>(['form', 'choice', 'passkey', 'external_action']);

/** A button that has the site create a passkey, which a person agrees to first. */
function isNewPasskey(choice: ReadChoice): boolean {
  return choice.uses === 'new_passkey';
}

/** A passkey that is not saved stays on the person's own device: choosing it leads nowhere. */
export function isPasskeyMethod(choice: ReadChoice): boolean {
  return choice.uses === 'passkey';
}

/** The provider that the credential names, among the choices. */
export function preferredProvider(choices: ReadChoice[], credential: CredentialFacts | null): ReadChoice | null {
  const wanted = credential?.ssoProvider?.toLowerCase();
  if (wanted === undefined) return null;
  return choices.find((choice) => choice.type === 'sso_provider' && choice.provider?.toLowerCase() === wanted) ?? null;
}
