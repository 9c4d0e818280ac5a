import type { Credential } from '../../contract/credentials.ts';
import type { CredentialRecord } from '../../store/queries/credentials.ts';

/** A credential as it is answered: never a value. Lists leave out the names of its values. */
export function presentCredential(record: CredentialRecord, detail: 'single' | 'list'): Credential {
  return {
    id: record.id,
    name: record.name,
    domain: record.domain,
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
    has_values: record.valueKeys.length > 0,
    has_totp_secret: record.hasTotpSecret,
    sso_provider: record.ssoProvider,
    ...(detail === 'single' ? { value_keys: record.valueKeys } : {}),
  };
}
