import type { CredentialFacts } from '../../contract/activities.ts';
import type { CredentialVersion } from '../../contract/login-plan.ts';

/** The version of a credential that something was learned about. */
export function versionOf(credential: CredentialFacts): CredentialVersion {
  return { credentialId: credential.id, version: credential.version };
}

/** True if the credential has not changed since `known`. */
export function isAtVersion(credential: CredentialFacts, known: CredentialVersion | null): boolean {
  return known !== null && known.credentialId === credential.id && known.version >= credential.version;
}
