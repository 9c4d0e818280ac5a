import type { Frame } from 'playwright-core';
import {
  isAllowedByName,
  isOwnSite,
  isSameSite,
  isUnder,
  isWithin,
  type AllowedSites,
} from '../../contract/site-hosts.ts';
import { portOf } from '../../egress/guard.ts';
import { isListedHost, type EgressPolicy } from '../../egress/policy.ts';

/** Hosts of identity providers by the name the reader gives their button; a leading `*.` matches any subdomain. */
const PROVIDER_HOSTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['google', ['accounts.google.com']],
  ['microsoft', ['login.microsoftonline.com', 'login.live.com']],
  ['okta', ['*.okta.com', '*.oktapreview.com']],
  ['auth0', ['*.auth0.com']],
  ['apple', ['appleid.apple.com']],
  ['github', ['github.com']],
  ['facebook', ['www.facebook.com']],
  ['linkedin', ['www.linkedin.com']],
  ['amazon', ['*.amazoncognito.com']],
  ['onelogin', ['*.onelogin.com']],
  ['ping', ['*.pingone.com', '*.pingidentity.com']],
]);

/** Providers that give each customer a host of their own. The public suffix list has others like them, but not these. */
const TENANT_HOSTS: readonly string[] = ['*.okta.com', '*.oktapreview.com', '*.auth0.com', '*.onelogin.com'];

/** Identity providers that may be typed into whatever domains a connection allows. */
const IDENTITY_PROVIDERS: readonly string[] = [...PROVIDER_HOSTS.values()].flat();

/**
 * Whether a credential may be typed into a document at `url`: https (http only for private hosts listed by the operator) and,
 * if the connection has allowed domains, a host among them, its own domain, or an identity provider.
 */
export function mayTypeInto(url: string, sites: AllowedSites, egress: EgressPolicy): boolean {
  if (!URL.canParse(url)) return false;
  const address = new URL(url);
  const { protocol, hostname } = address;
  if (protocol !== 'https:' && !(protocol === 'http:' && isListedHost(egress, hostname, portOf(address)))) return false;
  if (sites.allowedDomains.length === 0) return true;
  return isAllowedByName(address, sites) || matchesHost(hostname, IDENTITY_PROVIDERS);
}

/** Services that a site's scripts send logins to (Firebase, Amazon Cognito). They show them to nobody. */
const LOGIN_SERVICES = /^(?:identitytoolkit\.googleapis\.com|cognito-idp\.[a-z0-9-]+\.amazonaws\.com)$/;

/**
 * Whether what was typed into the document at `from` may be sent to `url`: over https if the document came over https, and, if the
 * connection has allowed domains, to the document's own site, a site that may be typed into, or a login service.
 */
export function maySendTo(url: string, from: string, sites: AllowedSites, egress: EgressPolicy): boolean {
  if (!mayTypeInto(url, { ...sites, allowedDomains: [] }, egress)) return false;
  if (new URL(from).protocol === 'https:' && new URL(url).protocol !== 'https:') return false;
  return isSameSite(url, from) || LOGIN_SERVICES.test(new URL(url).hostname) || mayTypeInto(url, sites, egress);
}

/** The site or provider that a stored value belongs to. */
export interface ValueOwner {
  /** Origin of the document that a person typed it into; null if it was set through the API. */
  origin: string | null;
  /** Domain of its credential. */
  domain: string;
  /** The provider its credential signs in through, or null. */
  ssoProvider: string | null;
  /** URLs listed on an item of an external secret store. If there are any, the connection's allowed domains do not apply. */
  sites?: readonly string[];
}

/**
 * Whether a stored value may be typed into a document at `url`.
 * - A value that a person typed belongs to the site it was typed into, or to that exact host if it belongs to a provider.
 * - A value set through the API belongs to its credential's domain and to the connection's allowed domains; with a provider, to
 *   the provider's hosts instead of the site.
 * - An item of an external secret store that lists its sites belongs to those alone: creating a connection must not be a way to
 *   choose where it is typed.
 *
 * A provider's password thus never goes into the site's own form or vice versa, nor one tenant's into another's host.
 */
export function mayTypeStoredValue(url: string, owner: ValueOwner, sites: AllowedSites, egress: EgressPolicy): boolean {
  if (!mayTypeInto(url, sites, egress)) return false;
  const { origin, domain, ssoProvider, sites: itemSites = [] } = owner;
  const { host, hostname, port } = new URL(url);
  if (origin !== null) return ssoProvider === null ? isSameOwner(url, origin) : host === new URL(origin).host;
  // The site itself is never its provider, even if it is listed among the allowed domains.
  if (ssoProvider !== null && isUnder(hostname, port, sites.domain)) return false;
  const tenants = [...itemSites, `https://${domain}/`].filter(isTenantHost);
  const isProviderHost =
    ssoProvider !== null && matchesHost(hostname, PROVIDER_HOSTS.get(ssoProvider.toLowerCase()) ?? []);
  if (isProviderHost && (tenants.length === 0 || tenants.some((tenant) => isSameOwner(url, tenant)))) return true;
  if (itemSites.length > 0) return itemSites.some((site) => isSameOwner(url, site));
  if (sites.allowedDomains.some((root) => isUnder(hostname, port, root))) return true;
  if (ssoProvider === null || tenants.length > 0) return isSameOwner(url, `https://${domain}/`);
  return isUnder(hostname, port, domain);
}

/** Whether two URLs belong to one site and, at a provider with a host per customer, to one customer. */
function isSameOwner(url: string, other: string): boolean {
  if (!isSameSite(url, other)) return false;
  return new URL(url).host === new URL(other).host || !(isTenantHost(url) || isTenantHost(other));
}

function isTenantHost(address: string): boolean {
  return URL.canParse(address) && matchesHost(new URL(address).hostname, TENANT_HOSTS);
}

/**
 * Whether a passkey of the site `rpId` may be loaded into a connection's sessions: the site or a subdomain of it is the
 * connection's own, an allowed domain, or an identity provider. The browser enforces that no other site can use it.
 */
export function mayUsePasskey(rpId: string, { domain, allowedDomains }: AllowedSites): boolean {
  const roots = [domain, ...allowedDomains].map((root) => new URL(`http://${root}/`).hostname.replace(/^www\./, ''));
  if (roots.some((root) => isWithin(root, rpId) || isWithin(rpId, root))) return true;
  return IDENTITY_PROVIDERS.some((host) => isWithin(host.replace('*.', ''), rpId));
}

/** Whether a page that a person acts on may navigate to `url`: the connection's site, an allowed domain, or an identity provider. */
export function mayNavigateTo(url: string, sites: AllowedSites): boolean {
  if (!URL.canParse(url)) return false;
  const address = new URL(url);
  if (address.protocol !== 'https:' && address.protocol !== 'http:') return url === 'about:blank';
  return isOwnSite(address, sites) || matchesHost(address.hostname, IDENTITY_PROVIDERS);
}

/** Whether a URL is an identity provider's. */
export function isIdentityProvider(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' && matchesHost(hostname, IDENTITY_PROVIDERS);
}

function matchesHost(hostname: string, hosts: readonly string[]): boolean {
  return hosts.some((host) => (host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host));
}

/** URL of the document that wrote a frame's content: a frame without a URL of its own is written by its parent. */
export function authorUrl(frame: Pick<Frame, 'url' | 'parentFrame'>): string {
  const parent = frame.parentFrame();
  const own = frame.url();
  return parent !== null && /^about:(blank|srcdoc)/.test(own) ? authorUrl(parent) : own;
}
