import type { CredentialFacts } from '../../contract/activities.ts';
import type { CredentialVersion } from '../../contract/document.ts';
import type { ReadField } from '../../contract/reading.ts';

/** Names under which callers keep what a person is known by, best first. */
const IDENTIFIER_KEYS = ['username', 'email', 'identifier', 'login', 'user', 'user_name', 'phone', 'tel', 'account'];
const EMAIL_FIRST = ['email', ...IDENTIFIER_KEYS.filter((key) => key !== 'email')];

/** The name under which a field's value is kept in a credential (`ref` of ManagedAuthField). */
export function refOf(field: ReadField): string {
  switch (field.type) {
    case 'identifier':
      return field.discovered_type === 'email' ? 'email' : 'username';
    case 'password':
      return 'password';
    case 'totp_secret':
      return 'totp_secret';
    case 'code':
    case 'totp_code':
      return 'code';
    case 'text':
      return field.name;
  }
}

/** The key of the credential that answers a field, or null. One-time codes are never kept, so never answered by a key. */
export function credentialKeyFor(field: ReadField, credential: CredentialFacts): string | null {
  const has = (key: string): boolean => credential.valueKeys.includes(key);
  const exact = [refOf(field), field.name].find(has);
  switch (field.type) {
    case 'code':
    case 'totp_code':
    case 'totp_secret':
      return null;
    case 'password':
    case 'text':
      return exact ?? null;
    case 'identifier': {
      const order = field.discovered_type === 'email' ? EMAIL_FIRST : IDENTIFIER_KEYS;
      return exact ?? order.find(has) ?? null;
    }
  }
}

/** The version of a credential, as what is learned with it is kept under. */
export function versionOf(credential: CredentialFacts): CredentialVersion {
  return { credentialId: credential.id, version: credential.version };
}

/** True when the credential has not changed since it was at `known`. */
export function isAtVersion(credential: CredentialFacts, known: CredentialVersion | null): boolean {
  return known !== null && known.credentialId === credential.id && known.version >= credential.version;
}
