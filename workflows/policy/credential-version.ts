import type { CredentialFacts } from '../../contract/activities.ts';
import type { CredentialVersion } from '../../contract/login-plan.ts';

/** The version of a credential, as what is learned with it is kept under. */
export function versionOf(credential: CredentialFacts): CredentialVersion {
  return { credentialId: credential.id, version: credential.version };
}

/** True when the credential has not changed since it was at `known`. */
export function isAtVersion(credential: CredentialFacts, known: CredentialVersion | null): boolean {
  return known !== null && known.credentialId === credential.id && known.version >= credential.version;
}
