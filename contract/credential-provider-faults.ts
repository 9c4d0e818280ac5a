/**
 * Why an external credential could not be had; each is an `error_code` of a flow, too. `unavailable`: the secret store does
 * not answer (try again); `refused`: it refuses the token; `not_found`, `ambiguous`: no item fits, or several do; `unknown`:
 * the provider was deleted or disabled. Free of zod, for workflows speak of them.
 */
export const CREDENTIAL_PROVIDER_FAULTS = [
  'credential_provider_unavailable',
  'credential_provider_refused',
  'credential_provider_unknown',
  'credential_item_not_found',
  'credential_item_ambiguous',
] as const;
export type CredentialProviderFault = (typeof CREDENTIAL_PROVIDER_FAULTS)[number];

/** What is wrong and what to do, where nothing more is known than the fault. */
export const CREDENTIAL_PROVIDER_MESSAGES: Readonly<Record<CredentialProviderFault, string>> = {
  credential_provider_unavailable:
    'The credential provider does not answer; test it with POST /org/credential_providers/{id}/test',
  credential_provider_refused:
    'The credential provider refuses its token; update the token, or what it may read and, for a new passkey, write',
  credential_provider_unknown:
    'The credential provider was deleted or disabled; enable it, or attach another credential',
  credential_item_not_found: 'The credential provider has no item that fits; check the path of the credential',
  credential_item_ambiguous: 'Several items of the credential provider fit; name one with `path` in the credential',
};

/** The fault of that name, or null when it is another's. */
export function credentialProviderFault(code: string): CredentialProviderFault | null {
  return CREDENTIAL_PROVIDER_FAULTS.find((fault) => fault === code) ?? null;
}
