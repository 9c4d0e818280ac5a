import type { Page } from 'playwright-core';
import type { CredentialFacts, LoginTarget } from '../../../contract/activities.ts';
import type { Passkey, PasskeyName } from '../../../contract/passkeys.ts';
import { isWithin } from '../../../contract/site-hosts.ts';
import type { ReadField } from '../../../contract/reading.ts';
import { isExternalId } from '../../../credential-providers/external-credentials.ts';
import { SecretStoreError } from '../../../credential-providers/secret-store.ts';
import type { CredentialRecord, OpenedCredential } from '../../../store/queries/credentials.ts';
import type { Scope } from '../../../store/scope.ts';
import type { Store } from '../../../store/store.ts';
import { authorUrl, mayTypeStoredValue, mayUsePasskey, type ValueOwner } from '../allowed-sites.ts';
import type { LoginDeps } from '../deps.ts';
import { resolveFrame } from '../entering/page-input.ts';

type CredentialDeps = Pick<LoginDeps, 'store' | 'externalCredentials'>;
/** The credential attached to a connection, and its scope. */
type Attachment = Pick<
  LoginTarget,
  'organizationId' | 'projectId' | 'domain' | 'credentialName' | 'externalCredential'
>;

/** What the attached credential can answer; null if there is none, it no longer exists, or its secret store is unavailable. */
export async function credentialFacts(deps: CredentialDeps, target: Attachment): Promise<CredentialFacts | null> {
  try {
    return (await findAttached(deps, target))?.facts ?? null;
  } catch (error) {
    if (error instanceof SecretStoreError) return null;
    throw error;
  }
}

/**
 * What the attached credential can answer on a page. Values that must not be typed on the site of the fields are left out, so that
 * a person is asked for them. Throws {@link SecretStoreError} for an external credential.
 */
export async function credentialFactsForPage(
  deps: CredentialDeps & Pick<LoginDeps, 'egress'>,
  target: LoginTarget,
  page: Page,
  fields: readonly ReadField[],
): Promise<CredentialFacts | null> {
  const found = await findAttached(deps, target);
  if (found === null) return null;
  const { facts, owner } = found;
  const documents = fields.length === 0 ? [page.url()] : await documentsOf(page, fields);
  const mayType = (key: string): boolean =>
    documents.every((url) => mayTypeStoredValue(url, valueOwner(owner, key), target, deps.egress));
  return {
    ...facts,
    valueKeys: facts.valueKeys.filter(mayType),
    hasTotpSecret: facts.hasTotpSecret && mayType(TOTP_SECRET),
    ...(facts.hasPasskey === true ? { hasPasskey: owner.passkeys?.some(isOfPage) === true } : {}),
  };

  function isOfPage({ rp_id: site }: PasskeyName): boolean {
    const host = URL.canParse(page.url()) ? new URL(page.url()).hostname : '';
    return mayUsePasskey(site, target) && isWithin(host, site);
  }
}

/** What a stored credential can answer; null if it does not exist. Does not query external secret stores. */
export async function storedFacts(
  { credentials }: Pick<Store, 'credentials'>,
  scope: Scope,
  credentialName: string | null,
): Promise<CredentialFacts | null> {
  const found = credentialName === null ? null : await credentials.find(scope, credentialName);
  return found === null ? null : factsOf(found);
}

/** Decrypts a credential by the id in its facts; null if it no longer exists. Only for typing its values. */
export async function openAttachedCredential(
  deps: CredentialDeps,
  target: LoginTarget,
  credentialId: string,
): Promise<(OpenedCredential & CredentialOwner) | null> {
  if (!isExternalId(credentialId)) return await deps.store.credentials.open(credentialId);
  const opened = await deps.externalCredentials.open(target, credentialId);
  return { ...opened, domain: target.domain, origins: {} };
}

/** Decrypts the passkeys of the attached credential; null if there is none. Throws {@link SecretStoreError}. */
export async function openPasskeys(
  deps: CredentialDeps,
  target: LoginTarget,
): Promise<{ credentialId: string; passkeys: Passkey[] } | null> {
  const facts = (await findAttached(deps, target))?.facts;
  if (facts === undefined) return null;
  const opened = facts.hasPasskey === true ? await openAttachedCredential(deps, target, facts.id) : null;
  return { credentialId: facts.id, passkeys: opened?.passkeys ?? [] };
}

/** The facts of the attached credential and the owner of its values; an external item belongs to the connection's site. */
async function findAttached(
  { store, externalCredentials }: CredentialDeps,
  target: Attachment,
): Promise<{ facts: CredentialFacts; owner: CredentialOwner } | null> {
  if (target.externalCredential !== undefined) {
    const { facts, ...rest } = await externalCredentials.find(target, target.externalCredential);
    return { facts, owner: { origins: {}, domain: target.domain, ssoProvider: facts.ssoProvider, ...rest } };
  }
  const found = target.credentialName === null ? null : await store.credentials.find(target, target.credentialName);
  return found === null ? null : { facts: factsOf(found), owner: found };
}

/** Key of the TOTP secret among a credential's origins. */
export const TOTP_SECRET = 'totp_secret';

/** The part of a credential that determines whom its values belong to. */
export type CredentialOwner = Pick<OpenedCredential, 'origins' | 'domain' | 'ssoProvider'> &
  Pick<ValueOwner, 'sites'> & { passkeys?: readonly PasskeyName[] };

/** Whom a value of a credential belongs to. A code belongs where its secret was set up, else where the password belongs. */
export function valueOwner(credential: CredentialOwner, key: string): ValueOwner {
  const { origins, domain, ssoProvider, sites = [] } = credential;
  const origin = origins[key] ?? (key === TOTP_SECRET ? origins['password'] : undefined) ?? null;
  return { origin, domain, ssoProvider, sites };
}

/** URLs of the documents that contain the fields; empty for one that no longer exists, which matches no site. */
async function documentsOf(page: Page, fields: readonly ReadField[]): Promise<string[]> {
  const frames = await Promise.all(fields.map((field) => resolveFrame(page, field).catch(() => null)));
  return frames.map((frame) => (frame === null ? '' : authorUrl(frame)));
}

function factsOf({ passkeys, ...record }: CredentialRecord): CredentialFacts {
  const { id, version, valueKeys, hasTotpSecret, ssoProvider } = record;
  const facts = { id, version, valueKeys, hasTotpSecret, ssoProvider };
  return passkeys.length === 0 ? facts : { ...facts, hasPasskey: true };
}
