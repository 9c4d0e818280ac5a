import { SIGN_IN_LINK_LIFETIME_MS } from '../contract/people.ts';
import type { Store } from './store.ts';

/** The email address of the administrator until they set their own. */
export const FIRST_ADMINISTRATOR_EMAIL = 'administrator@holdfast.invalid';

type PeopleStore = Pick<Store, 'users' | 'memberships' | 'signInCodes'>;

/**
 * Creates a single-use sign-in code, valid for an hour, for the user with `email`, else for the first administrator, who is
 * created as an owner if the organization has none. Null if no user has that address.
 */
export async function makeSignInCode(
  store: PeopleStore,
  organizationId: string,
  email?: string,
): Promise<string | null> {
  const user =
    email === undefined ? await firstAdministrator(store, organizationId) : await store.users.findByEmail(email);
  if (user === null) return null;
  return store.signInCodes.create('link', { userId: user.id, lifetimeMs: SIGN_IN_LINK_LIFETIME_MS });
}

async function firstAdministrator(store: PeopleStore, organizationId: string): Promise<{ id: string }> {
  const owner = await store.memberships.firstOwner(organizationId);
  if (owner !== null) return owner.user;
  const user = await store.users.create({ organizationId, email: FIRST_ADMINISTRATOR_EMAIL, name: 'Administrator' });
  await store.memberships.add(organizationId, user.id, 'owner');
  return user;
}
