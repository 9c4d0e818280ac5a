import type {
  ConnectionCreate,
  ConnectionUpdate,
  CredentialReference,
  ManagedAuthBrowser,
} from '../../contract/connections.ts';
import type { ConnectionSettings } from '../../contract/document.ts';
import { invalidField } from '../../contract/errors.ts';
import { PLAN_MIN_HEALTH_CHECK_INTERVAL, defaultHealthCheckInterval } from '../../contract/limits.ts';
import type { BrowserProxyConfig, ProxyRef } from '../../contract/proxies.ts';
import type { TelemetryRequest } from '../../contract/telemetry.ts';
import type { ProjectScope } from '../../store/scope.ts';
import { checkDomain, checkServerUrl, normalizeAllowedDomains } from '../address-rules.ts';
import type { ApiDeps, SettingsChanges } from '../context.ts';
import { omitUndefined } from '../nullish.ts';

/** The settings of a new connection, validated and with defaults. Throws `invalid_input` naming the field. */
export async function settingsOf(
  deps: ApiDeps,
  scope: ProjectScope,
  body: ConnectionCreate,
): Promise<ConnectionSettings> {
  checkDomain(deps.addressPolicy, body.domain);
  await validate(deps, scope, body);
  const browser = await browserOf(deps, scope, body);
  return {
    domain: body.domain,
    profile_name: body.profile_name,
    auto_reauth: body.auto_reauth ?? true,
    health_checks: body.health_checks ?? true,
    health_check_interval: body.health_check_interval ?? defaultHealthCheckInterval(deps.settings.plan),
    record_session: body.record_session ?? false,
    save_credentials: body.save_credentials ?? true,
    ...omitUndefined({
      allowed_domains: body.allowed_domains && normalizeAllowedDomains(body.allowed_domains),
      browser,
      proxy_id: browser?.proxy?.id,
      codes: body.codes && omitUndefined(body.codes),
      credential: body.credential,
      login_url: body.login_url,
    }),
  };
}

/** The validated changes of an update; absent properties stay unchanged. Throws `invalid_input` naming the field. */
export async function changesOf(
  deps: ApiDeps,
  scope: ProjectScope,
  current: ConnectionSettings,
  body: ConnectionUpdate,
): Promise<SettingsChanges> {
  await validate(deps, scope, body);
  const browser = await browserOf(deps, scope, body);
  return omitUndefined({
    allowed_domains: body.allowed_domains && normalizeAllowedDomains(body.allowed_domains),
    auto_reauth: body.auto_reauth,
    browser: browser && mergeBrowser(current, browser),
    codes: body.codes && omitUndefined(body.codes),
    credential: body.credential,
    health_check_interval: body.health_check_interval,
    health_checks: body.health_checks,
    login_url: body.login_url === '' ? null : body.login_url,
    proxy_id: browser?.proxy && (browser.proxy.id ?? null),
    record_session: body.record_session,
    save_credentials: body.save_credentials,
  });
}

/** The browser settings of a body: `browser`, and the deprecated forms of two of its members. */
export interface BrowserChoices {
  browser?: ManagedAuthBrowser | undefined;
  browser_telemetry?: TelemetryRequest | null | undefined;
  proxy?: ProxyRef | undefined;
}

/** The normalized browser settings of a body; undefined if it has none. Throws `invalid_input` naming the field. */
export async function browserOf(
  deps: Pick<ApiDeps, 'store'>,
  scope: ProjectScope,
  body: BrowserChoices,
): Promise<ManagedAuthBrowser | undefined> {
  const proxy = await resolveProxy(deps, scope, body);
  rejectUnsupported('browser.telemetry', body.browser?.telemetry);
  rejectUnsupported('browser_telemetry', body.browser_telemetry);
  const telemetry = body.browser?.telemetry === undefined ? body.browser_telemetry : body.browser.telemetry;
  if (body.browser === undefined && proxy === undefined && telemetry === undefined) return undefined;
  return omitUndefined({ ...body.browser, proxy, telemetry });
}

/** The telemetry settings of a connection; older connections may hold them in the deprecated field. */
export function telemetryOf({ browser, browser_telemetry: deprecated }: BrowserChoices) {
  return browser?.telemetry === undefined ? deprecated : browser.telemetry;
}

/** Validates the settings of a body; absent ones are not checked, so a value that a lower plan forbids stays until it is edited. */
async function validate(deps: ApiDeps, scope: ProjectScope, body: ConnectionUpdate): Promise<void> {
  const { login_url: loginUrl = '', health_check_interval: interval, credential } = body;
  if (loginUrl !== '') checkServerUrl(deps.addressPolicy, 'login_url', loginUrl);
  const { plan } = deps.settings;
  const minimum = PLAN_MIN_HEALTH_CHECK_INTERVAL[plan];
  if (interval !== undefined && interval < minimum)
    throw invalidField('health_check_interval', `must be ${minimum} or more on the ${plan} plan`);
  if (credential !== undefined && credential !== null) await checkCredential(deps, scope, credential);
}

async function checkCredential(deps: ApiDeps, scope: ProjectScope, reference: CredentialReference): Promise<void> {
  if (reference.name === undefined) return;
  const found = await deps.store.credentials.find(scope, reference.name);
  if (found === null || found.name !== reference.name) {
    throw invalidField('credential.name', 'no credential of that name in this project');
  }
}

/** Rejects telemetry that a login's session cannot capture. */
function rejectUnsupported(field: string, telemetry: TelemetryRequest | null | undefined): void {
  if (Object.keys(telemetry?.export ?? {}).length > 0)
    throw invalidField(`${field}.export`, 'is not supported; omit it and read telemetry from the browser session');
  if (telemetry?.browser?.screenshot?.enabled === true)
    throw invalidField(
      `${field}.browser.screenshot`,
      'would show what a person types into a login; use `record_session` instead',
    );
}

function mergeBrowser(current: ConnectionSettings, change: ManagedAuthBrowser): ManagedAuthBrowser {
  const before = telemetryOf(current);
  return omitUndefined({
    proxy: change.proxy ?? current.browser?.proxy,
    stealth: change.stealth ?? current.browser?.stealth,
    telemetry: change.telemetry === undefined ? before : mergeTelemetry(before, change.telemetry),
  });
}

/**
 * The telemetry settings after an update (interface.md, "BrowserTelemetryRequestConfig"): `enabled` replaces the current settings;
 * without it, the given categories are merged into them.
 */
function mergeTelemetry(
  current: TelemetryRequest | null | undefined,
  change: TelemetryRequest | null,
): TelemetryRequest | null {
  if (change === null) return null;
  if (change.enabled !== undefined || current === null || current === undefined) return change;
  if (current.enabled === false) return { ...change, enabled: true };
  return { ...current, ...change, browser: { ...current.browser, ...change.browser } };
}

/**
 * The proxy that a body selects, by id even if the body names it, since names can be reassigned; undefined if it selects none.
 * Throws `invalid_input` for a proxy that the project does not have, an ambiguous name, and two selections at once.
 */
async function resolveProxy(
  { store }: Pick<ApiDeps, 'store'>,
  scope: ProjectScope,
  { browser, proxy: deprecated }: BrowserChoices,
): Promise<BrowserProxyConfig | undefined> {
  if (browser?.proxy !== undefined && deprecated !== undefined) {
    throw invalidField('proxy', 'is the deprecated form of `browser.proxy`; send only `browser.proxy`');
  }
  const field = deprecated === undefined ? 'browser.proxy' : 'proxy';
  const selected = browser?.proxy ?? deprecated;
  if (selected === undefined || !('id' in selected || 'name' in selected)) return selected;
  const { id, name = '' } = selected;
  const match = await store.proxies.match(scope.projectId, id === undefined ? { name } : { id });
  switch (match.outcome) {
    case 'found':
      return { id: match.proxy.id };
    case 'none':
      throw id === undefined
        ? invalidField(`${field}.name`, 'no proxy of that name in this project')
        : invalidField(`${field}.id`, 'no such proxy in this project');
    case 'ambiguous':
      throw invalidField(`${field}.name`, 'several proxies of this project have that name; use the id');
  }
}
