import type { Page } from 'playwright-core';
import type { CredentialFacts, LoginTarget } from '../../contract/activities.ts';
import type { ReadField } from '../../contract/reading.ts';
import type { EgressPolicy } from '../../egress/policy.ts';
import type { CredentialRecord, OpenedCredential } from '../../store/queries/credentials.ts';
import type { Store } from '../../store/store.ts';
import { authorUrl, mayTypeStored, type ValueOwner } from './allowed-site.ts';
import { frameOf } from './fill.ts';

/** What the attached credential can answer; null when none is attached or it is gone. */
export async function credentialFacts(
  store: Pick<Store, 'credentials'>,
  scope: { organizationId: string; projectId: string },
  credentialName: string | null,
): Promise<CredentialFacts | null> {
  const found = credentialName === null ? null : await store.credentials.find(scope, credentialName);
  return found === null ? null : factsOf(found);
}

/**
 * What the attached credential can answer on the page in front: values that belong to another site than the fields' do
 * not count, so that they are asked for instead of being typed.
 */
export async function credentialFactsFor(
  deps: { store: Pick<Store, 'credentials'>; egress: EgressPolicy },
  target: LoginTarget,
  page: Page,
  fields: readonly ReadField[],
): Promise<CredentialFacts | null> {
  const { credentialName } = target;
  const found = credentialName === null ? null : await deps.store.credentials.find(target, credentialName);
  if (found === null) return null;
  const documents = fields.length === 0 ? [page.url()] : await documentsOf(page, fields);
  const mayType = (key: string): boolean =>
    documents.every((url) => mayTypeStored(url, ownerOf(found, key), target, deps.egress));
  return {
    ...factsOf(found),
    valueKeys: found.valueKeys.filter(mayType),
    hasTotpSecret: found.hasTotpSecret && mayType(TOTP_SECRET),
  };
}

/** The name of the authenticator's secret among a credential's origins. */
export const TOTP_SECRET = 'totp_secret';

/** Whom a value of a credential belongs to; a code to whom its secret does, else the password beside it. */
export function ownerOf(
  credential: Pick<OpenedCredential, 'origins' | 'domain' | 'ssoProvider'>,
  key: string,
): ValueOwner {
  const { origins, domain, ssoProvider } = credential;
  const origin = origins[key] ?? (key === TOTP_SECRET ? origins['password'] : undefined) ?? null;
  return { origin, domain, ssoProvider };
}

/** Addresses of the documents that hold fields. One that is gone meanwhile is no place to type. */
async function documentsOf(page: Page, fields: readonly ReadField[]): Promise<string[]> {
  const frames = await Promise.all(fields.map((field) => frameOf(page, field).catch(() => null)));
  return frames.map((frame) => (frame === null ? '' : authorUrl(frame)));
}

function factsOf({ id, version, valueKeys, hasTotpSecret, ssoProvider }: CredentialRecord): CredentialFacts {
  return { id, version, valueKeys, hasTotpSecret, ssoProvider };
}
