import type { LoginTarget } from '../../contract/activities.ts';
import type { BrowserCreate } from '../../contract/browsers.ts';
import type { BrowserProxyConfig } from '../../contract/proxies.ts';

/** A desktop size at which sites show their whole login form. */
const VIEWPORT = { width: 1280, height: 800 };

/**
 * The session that a flow or a check asks for: on the connection's profile, saving nothing until it is told to. One that is
 * to be recorded has a window, for a recorder sees a display.
 */
export function sessionBody(target: LoginTarget, name: string, timeoutSeconds: number): Partial<BrowserCreate> {
  const telemetry = target.browser?.telemetry;
  return {
    ...strangersSessionBody(target, name, timeoutSeconds),
    headless: target.recordSession !== true,
    profile: { name: target.profileName, save_changes: false },
    ...(telemetry === undefined ? {} : { telemetry }),
  };
}

/** The same way to the site without the profile: what somebody sees whom it does not know. */
export function strangersSessionBody(
  { browser }: Pick<LoginTarget, 'browser'>,
  name: string,
  timeoutSeconds: number,
): Partial<BrowserCreate> {
  return {
    headless: true,
    stealth: browser?.stealth ?? true,
    name,
    timeout_seconds: timeoutSeconds,
    viewport: VIEWPORT,
    ...proxyOf(browser?.proxy),
  };
}

/** An id goes in the form that older peers know too. `default` is what a session has that names nothing. */
function proxyOf(proxy: BrowserProxyConfig | undefined): Pick<BrowserCreate, 'proxy' | 'proxy_id'> {
  if (proxy === undefined || proxy.mode === 'default') return {};
  return proxy.id === undefined ? { proxy } : { proxy_id: proxy.id };
}
