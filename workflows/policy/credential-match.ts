import type { CredentialFacts } from '../../contract/activities.ts';
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

/** A password that a site refused: it is not typed again until the credential's version changes. */
export interface RefusedCredential {
  credentialId: string;
  version: number;
}

/** True when this very version of the credential has been refused. */
export function isRefused(credential: CredentialFacts, refused: RefusedCredential | null): boolean {
  return refused !== null && refused.credentialId === credential.id && refused.version >= credential.version;
}
