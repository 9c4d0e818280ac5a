/**
 * Why an external credential is unavailable; each is also an `error_code` of a flow. `unavailable`: the secret store does not
 * answer (retriable); `refused`: it rejects the token; `not_found`, `ambiguous`: no item matches, or several do; `unknown`: the
 * provider was deleted or disabled. Free of zod, because workflows use it.
 */
export const CREDENTIAL_PROVIDER_FAULTS = [
  'credential_provider_unavailable',
  'credential_provider_refused',
  'credential_provider_unknown',
  'credential_item_not_found',
  'credential_item_ambiguous',
] as const;
export type CredentialProviderFault = (typeof CREDENTIAL_PROVIDER_FAULTS)[number];

/** The default message for each fault. */
export const CREDENTIAL_PROVIDER_MESSAGES: Readonly<Record<CredentialProviderFault, string>> = {
  credential_provider_unavailable:
    'The credential provider does not answer; test it with POST /org/credential_providers/{id}/test',
  credential_provider_refused:
    'The credential provider rejects its token; update the token, or its permission to read and, for a new passkey, to write',
  credential_provider_unknown:
    'The credential provider was deleted or disabled; enable it, or attach another credential',
  credential_item_not_found: 'The credential provider has no matching item; check the path of the credential',
  credential_item_ambiguous: 'Several items of the credential provider match; name one with `path` in the credential',
};

/** The fault of that name, or null for any other code. */
export function credentialProviderFault(code: string): CredentialProviderFault | null {
  return CREDENTIAL_PROVIDER_FAULTS.find((fault) => fault === code) ?? null;
}
