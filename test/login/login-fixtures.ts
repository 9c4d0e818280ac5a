import type { LoginTarget } from '../../contract/activities.ts';
import type { CheckMethod } from '../../contract/connections.ts';
import type { ConnectionDocument } from '../../contract/document.ts';

/** The result of a request check of an unchanged session. */
export const CHECK: CheckMethod = {
  method: 'request',
  status: 200,
  address: 'https://a.example/desk',
  decided_by: 'content',
};
/** Facts of the credential of {@link DOCUMENT}. */
export const FACTS = { id: 'cred_1', version: 1, valueKeys: ['password'], hasTotpSecret: false, ssoProvider: null };
/** The target of a login with default settings, except for `settings`. */
export function loginTarget(settings: Partial<LoginTarget> = {}): LoginTarget {
  return {
    ...{ connectionId: 'c', organizationId: 'o', projectId: 'p', domain: 'site.example', profileName: 'profile' },
    ...{ loginUrl: null, postLoginUrl: null, allowedDomains: [], browser: null, credentialName: null },
    ...settings,
  };
}
/** The target of {@link DOCUMENT}. */
export const TARGET = loginTarget({
  ...{ connectionId: 'conn_1', organizationId: 'org_1', projectId: 'prj_1', domain: 'a.example', profileName: 'ann' },
  credentialName: 'saved',
});
/** A logged-in connection. */
export const DOCUMENT: ConnectionDocument = {
  ...{ schema_version: 1, id: 'conn_1', organization_id: 'org_1', project_id: 'prj_1', revision: 8 },
  ...{ created_at: '2026-01-01T00:00:00.000Z', status: 'AUTHENTICATED', post_login_url: null },
  ...{ can_reauth: true, can_reauth_reason: 'has_credential', last_auth_check_at: null, flow: null },
  settings: {
    ...{ domain: 'a.example', profile_name: 'ann', auto_reauth: true, health_check_interval: 3600 },
    ...{ health_checks: true, record_session: false, save_credentials: true },
  },
};
