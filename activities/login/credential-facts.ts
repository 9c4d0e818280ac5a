import type { CredentialFacts } from '../../contract/activities.ts';
import type { Store } from '../../store/store.ts';

/** What the attached credential can answer; null when none is attached or it is gone. */
export async function credentialFacts(
  store: Pick<Store, 'credentials'>,
  scope: { organizationId: string; projectId: string },
  credentialName: string | null,
): Promise<CredentialFacts | null> {
  if (credentialName === null) return null;
  const found = await store.credentials.find(scope, credentialName);
  if (found === null) return null;
  const { id, version, valueKeys, hasTotpSecret, ssoProvider } = found;
  return { id, version, valueKeys, hasTotpSecret, ssoProvider };
}
