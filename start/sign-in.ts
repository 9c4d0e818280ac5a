import { makeSignInCode } from '../store/administrator.ts';
import { DEFAULT_ORGANIZATION_ID, type Store } from '../store/store.ts';
import { openStore } from './connections.ts';
import { loadKeys } from './keys.ts';
import { parseSettings, type Settings } from './settings.ts';
import { SetupError } from './setup/setup-error.ts';
import { say } from './terminal.ts';

/**
 * `npm run sign-in [-- <e-mail>]`: prints a link that signs somebody in to the console once: the first administrator, or who
 * has that address and lost access.
 */
export async function printSignInLink(): Promise<void> {
  const settings = parseSettings();
  const store = await openStore(settings, await loadKeys(settings));
  try {
    const email = process.argv[2]?.trim().toLowerCase();
    const code = await makeSignInCode(store, DEFAULT_ORGANIZATION_ID, email);
    if (code === null) throw new SetupError('Nobody has this e-mail address; leave it out for the first administrator');
    say(`Open this link within the hour; it is good once:\n\n  ${consoleLink(settings, code)}\n`);
  } finally {
    await store.close();
  }
}

/** The link of the first administrator, while no owner can sign in otherwise; null after that. */
export async function firstSignInLink(
  settings: Settings,
  store: Pick<Store, 'users' | 'memberships' | 'signInCodes'>,
): Promise<string | null> {
  if (await store.memberships.hasReachableOwner(DEFAULT_ORGANIZATION_ID)) return null;
  const code = await makeSignInCode(store, DEFAULT_ORGANIZATION_ID);
  return code === null ? null : consoleLink(settings, code);
}

/** What follows `#` stays in the browser: it is in no log of a server or a proxy. */
function consoleLink({ publicUrl }: Pick<Settings, 'publicUrl'>, code: string): string {
  return `${publicUrl}/console#code=${code}`;
}
