import type {
  ConnectionCreate,
  ConnectionUpdate,
  CredentialReference,
  ManagedAuthBrowser,
} from '../../contract/connections.ts';
import type { ConnectionSettings } from '../../contract/document.ts';
import { defaultHealthCheckInterval, PLAN_MIN_HEALTH_CHECK_INTERVAL, type Plan } from '../../contract/limits.ts';
import type { BrowserProxyConfig } from '../../contract/proxies.ts';
import type { ProjectScope } from '../../store/scope.ts';
import type { ApiDeps, SettingsChanges } from '../context.ts';
import { defined } from '../defined.ts';
import { invalidField } from '../../contract/errors.ts';
import { chosenProxy } from '../proxies/reference.ts';
import { checkDomain, checkLoginUrl, normalizeAllowedDomains } from './address-rules.ts';
import { mergeTelemetry } from './telemetry-change.ts';

/** The settings of a new connection: every rule of the create table applied, every default filled in. */
export async function settingsOf(
  deps: ApiDeps,
  scope: ProjectScope,
  body: ConnectionCreate,
): Promise<ConnectionSettings> {
  const { plan } = deps.settings;
  checkDomain(deps.addressPolicy, body.domain);
  if (body.login_url !== undefined) checkLoginUrl(deps.addressPolicy, body.login_url);
  if (body.health_check_interval !== undefined) checkInterval(plan, body.health_check_interval);
  if (body.credential !== undefined) await checkCredential(deps, scope, body.credential);
  const proxy = await chosenProxy(deps, scope, body);
  return {
    domain: body.domain,
    profile_name: body.profile_name,
    auto_reauth: body.auto_reauth ?? true,
    health_checks: body.health_checks ?? true,
    health_check_interval: body.health_check_interval ?? defaultHealthCheckInterval(plan),
    record_session: body.record_session ?? false,
    save_credentials: body.save_credentials ?? true,
    ...defined({
      allowed_domains: body.allowed_domains && normalizeAllowedDomains(body.allowed_domains),
      browser: withProxy(body.browser, proxy),
      browser_telemetry: body.browser_telemetry,
      proxy_id: proxy?.id,
      credential: body.credential,
      login_url: body.login_url,
    }),
  };
}

/** What an update changes. A property that is absent stays as it is. */
export async function changesOf(
  deps: ApiDeps,
  scope: ProjectScope,
  current: ConnectionSettings,
  body: ConnectionUpdate,
): Promise<SettingsChanges> {
  if (body.login_url !== undefined && body.login_url !== '') checkLoginUrl(deps.addressPolicy, body.login_url);
  // Only a new value is checked: one that a later, lower plan forbids stays until it is edited.
  if (body.health_check_interval !== undefined) checkInterval(deps.settings.plan, body.health_check_interval);
  if (body.credential !== undefined) await checkCredential(deps, scope, body.credential);
  const proxy = await chosenProxy(deps, scope, body);
  const browser = withProxy(body.browser, proxy);
  return defined({
    allowed_domains: body.allowed_domains && normalizeAllowedDomains(body.allowed_domains),
    auto_reauth: body.auto_reauth,
    browser: browser && mergeBrowser(current.browser, browser),
    browser_telemetry:
      body.browser_telemetry === undefined
        ? undefined
        : mergeTelemetry(current.browser_telemetry, body.browser_telemetry),
    credential: body.credential,
    health_check_interval: body.health_check_interval,
    health_checks: body.health_checks,
    login_url: body.login_url === '' ? null : body.login_url,
    proxy_id: proxy && (proxy.id ?? null),
    record_session: body.record_session,
    save_credentials: body.save_credentials,
  });
}

/** The browser settings of a body with the proxy that it chooses, in either of its two places. */
export function withProxy(
  browser: ManagedAuthBrowser | undefined,
  proxy: BrowserProxyConfig | undefined,
): ManagedAuthBrowser | undefined {
  return proxy === undefined ? browser : { ...browser, proxy };
}

function checkInterval(plan: Plan, seconds: number): void {
  const minimum = PLAN_MIN_HEALTH_CHECK_INTERVAL[plan];
  if (seconds < minimum) throw invalidField('health_check_interval', `must be ${minimum} or more on the ${plan} plan`);
}

async function checkCredential(deps: ApiDeps, scope: ProjectScope, reference: CredentialReference): Promise<void> {
  if (reference.name === undefined) return;
  const found = await deps.store.credentials.find(scope, reference.name);
  if (found === null || found.name !== reference.name) {
    throw invalidField('credential.name', 'no credential of that name in this project');
  }
}

function mergeBrowser(current: ManagedAuthBrowser | undefined, change: ManagedAuthBrowser): ManagedAuthBrowser {
  const telemetry =
    change.telemetry === undefined ? current?.telemetry : mergeTelemetry(current?.telemetry, change.telemetry);
  return defined({
    proxy: change.proxy ?? current?.proxy,
    stealth: change.stealth ?? current?.stealth,
    telemetry,
  });
}
