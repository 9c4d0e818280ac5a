import { inLanguage } from '../words/language.ts';
import { call, CallError } from './call.ts';

const words = inLanguage({
  en: { canceled: 'No passkey was used. Try again, or sign in another way' },
  de: { canceled: 'Es wurde kein Passkey benutzt. Versuche es noch einmal, oder nimm einen anderen Weg' },
});

/** True if the browser supports passkeys in WebAuthn's JSON form. */
export const canUsePasskeys =
  typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;

/** Signs in with a passkey. Rejects with {@link CallError}. */
export async function signInByPasskey(): Promise<unknown> {
  return call('POST', '/session/passkey', await provePasskey());
}

/** Confirms the signed-in person's identity with a passkey. Rejects with {@link CallError}. */
export async function confirmByPasskey(): Promise<unknown> {
  return call('POST', '/session/confirm', { passkey: await provePasskey() });
}

/** Creates a passkey on this device and registers it under a name. Rejects with {@link CallError}. */
export async function addPasskey(name: string): Promise<unknown> {
  const path = '/session/account/passkeys';
  const options = await call<PublicKeyCredentialCreationOptionsJSON>('POST', `${path}/options`, {});
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const response = await answerOf(() => navigator.credentials.create({ publicKey }));
  return call('POST', path, { name, response });
}

async function provePasskey(): Promise<unknown> {
  const options = await call<PublicKeyCredentialRequestOptionsJSON>('POST', '/session/passkey/options', {});
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return answerOf(() => navigator.credentials.get({ publicKey }));
}

/** Returns the authenticator's response. Rejects with {@link CallError} if the person cancels or has no passkey. */
async function answerOf(ask: () => Promise<Credential | null>): Promise<unknown> {
  const credential = await ask().catch(() => null);
  if (credential instanceof PublicKeyCredential) return credential.toJSON();
  throw new CallError(0, { code: 'passkey_canceled', message: words.canceled });
}
