import { expect } from 'vitest';
import type { Passkey } from '../../contract/passkeys.ts';
import type { ExternalCredentials } from '../../credential-providers/external-credentials.ts';
import { TARGET } from './connected-store.ts';

/** The item of stores whose paths are their own. */
export const REFERENCE = { provider: 'store', path: 'shop' };
/** The item of stores that are looked through for a title. */
export const TITLED = { provider: 'store', path: 'Shop' };

/** Adds a passkey as the end of a login does. */
export async function add(external: ExternalCredentials, passkey: Passkey, reference = REFERENCE): Promise<void> {
  const { facts } = await external.find(TARGET, reference);
  await external.addPasskeys(TARGET, facts.id, [passkey]);
}

/** All that an error could tell to whoever catches it. */
export async function told(failing: Promise<unknown>): Promise<{ code: string; text: string }> {
  const error: unknown = await failing.catch((thrown: unknown) => thrown);
  const code = String(Reflect.get(Object(error), 'code'));
  return { code, text: JSON.stringify(error, Object.getOwnPropertyNames(error)) };
}

/** The passkeys that the next login would have. */
export async function readAgain(external: ExternalCredentials): Promise<Passkey[]> {
  const { facts } = await external.find(TARGET, TITLED);
  expect(facts).toMatchObject({ hasPasskey: true, takesPasskeys: true });
  return (await external.open(TARGET, facts.id)).passkeys;
}
