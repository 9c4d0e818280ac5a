import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import type { ProxyFailure } from '../../contract/activities.ts';
import { CREDENTIAL_PROVIDER_MESSAGES, credentialProviderFault } from '../../contract/credential-provider-faults.ts';
import type { FlowErrorCode } from '../../contract/connections.ts';

/** The type of an activity's failure; a timeout or a lost worker has none. */
export function failureCodeOf(error: unknown): string {
  if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure)
    return error.cause.type ?? 'internal_error';
  if (error instanceof ActivityFailure) return 'entry_uncertain';
  if (error instanceof ApplicationFailure) return error.type ?? 'internal_error';
  return 'internal_error';
}

/** The `error_code` of a flow that ended with a failure. */
export function failureCode(error: unknown): FlowErrorCode {
  const code = failureCodeOf(error);
  switch (code) {
    case 'domain_not_allowed':
    case 'network_error':
    case 'element_not_found':
    case 'browser_error':
    case 'session_not_persistent':
    case 'account_mismatch':
    case 'captcha_blocked':
      return code;
    case 'address_refused':
      return 'domain_not_allowed';
    case 'service_unavailable':
    case 'session_gone':
    case 'entry_uncertain':
      return 'browser_error';
    default:
      return credentialProviderFault(code) ?? (proxyMessage(error) !== null ? 'network_error' : 'internal_error');
  }
}

/** The `error_message` of a flow that ended with a failure. */
export function failureMessage(error: unknown): string {
  const code = failureCodeOf(error);
  if (code === 'address_refused')
    return 'The login page leads to an address that is not public; if it may be visited, list its host in HOLDFAST_ALLOW_PRIVATE_HOSTS';
  if (code === 'session_not_persistent')
    return 'The site let the browser in, but asks for a login again when the saved profile is opened; turn on "stay signed in" at the site, if it has that, and log in again';
  if (code === 'account_mismatch')
    return 'The login led to a different account than before, and nothing was changed; log in to the earlier account, or delete the connection and create it again for this one';
  if (code === 'captcha_blocked' && error instanceof ApplicationFailure) return error.message;
  const fault = credentialProviderFault(code);
  if (fault !== null) return CREDENTIAL_PROVIDER_MESSAGES[fault];
  return proxyMessage(error) ?? 'The login failed; start a new one';
}

/** What is wrong with the connection's proxy and what to do; null if something else failed. */
export function proxyMessage(error: unknown): string | null {
  return new Map(Object.entries(PROXY_MESSAGES)).get(failureCodeOf(error)) ?? null;
}

const PROXY_MESSAGES: Record<ProxyFailure, string> = {
  proxy_unknown: "The connection's proxy no longer exists; choose another one in `browser.proxy`",
  proxy_unreachable: "The connection's proxy does not answer; check it with POST /proxies/{id}/check",
  proxy_address_refused: "The connection's proxy has a private address; list it in HOLDFAST_ALLOW_PRIVATE_HOSTS",
  proxy_credentials_refused:
    "The connection's proxy refuses its user name or password; recreate it with the right ones",
};
