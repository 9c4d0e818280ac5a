import type { LoginTarget } from '../../contract/activities.ts';
import type { LoginRequest } from '../messages.ts';
import { reauthMemory, type ConnectionState } from './state.ts';

/** Where a login of this connection goes. `overrides` come from one login request. */
export function targetOf(state: ConnectionState, overrides: LoginRequest | null = null): LoginTarget {
  const { document } = state;
  const { settings } = document;
  // Whatever a login request leaves out comes from the connection, above all its proxy.
  const browser =
    overrides?.browser === undefined ? (settings.browser ?? null) : { ...settings.browser, ...overrides.browser };
  const { forms } = reauthMemory(document);
  const telemetry = overrides?.browserTelemetry ?? settings.browser_telemetry;
  return {
    connectionId: document.id,
    organizationId: document.organization_id,
    projectId: document.project_id,
    domain: settings.domain,
    profileName: settings.profile_name,
    loginUrl: settings.login_url ?? null,
    postLoginUrl: document.post_login_url,
    ...(state.loginPageUrl === null ? {} : { loginPageUrl: state.loginPageUrl }),
    ...(document.account === undefined ? {} : { account: document.account }),
    ...(document.request_check === undefined ? {} : { requestCheck: document.request_check }),
    allowedDomains: settings.allowed_domains ?? [],
    ...(forms === null || forms === undefined ? {} : { forms }),
    browser: telemetry === undefined || browser?.telemetry !== undefined ? browser : { ...browser, telemetry },
    credentialName: settings.credential?.name ?? null,
    ...(settings.credential?.provider === undefined ? {} : { externalCredential: settings.credential }),
    recordSession: overrides?.recordSession ?? settings.record_session,
  };
}
