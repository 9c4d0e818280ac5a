import type { Frame } from 'playwright-core';
import {
  isAllowedByName,
  isOwnSite,
  isSameSite,
  isUnder,
  isWithin,
  type AllowedSites,
} from '../../contract/site-hosts.ts';
import { isListedHost, type EgressPolicy } from '../../egress/policy.ts';

/** Hosts of identity providers, by the name that their button is read as; a leading `*.` stands for any subdomain. */
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

/** Providers whose every host is another customer's. The public suffix list knows others of their kind, but not these. */
const TENANT_HOSTS: readonly string[] = ['*.okta.com', '*.oktapreview.com', '*.auth0.com', '*.onelogin.com'];

/** Identity providers where a person may always type, whatever domains a connection allows. */
const IDENTITY_PROVIDERS: readonly string[] = [...PROVIDER_HOSTS.values()].flat();

/**
 * Whether a credential may be typed into a document at `url`: https (http only for a private host that the operator
 * listed), and, when the connection names allowed domains, a host among them, its own domain or an identity provider.
 */
export function mayTypeInto(url: string, sites: AllowedSites, egress: EgressPolicy): boolean {
  if (!URL.canParse(url)) return false;
  const address = new URL(url);
  const { protocol, hostname, port } = address;
  if (protocol !== 'https:') {
    const effectivePort = port === '' ? 80 : Number(port);
    if (protocol !== 'http:' || !isListedHost(egress, hostname, effectivePort)) return false;
  }
  if (sites.allowedDomains.length === 0) return true;
  return isAllowedByName(address, sites) || matchesHost(hostname, IDENTITY_PROVIDERS);
}

/** Services that take a site's logins from its scripts (Firebase, Amazon Cognito), and show them to nobody. */
const LOGIN_SERVICES = /^(?:identitytoolkit\.googleapis\.com|cognito-idp\.[a-z0-9-]+\.amazonaws\.com)$/;

/**
 * Whether a form of the document at `from` may send what was typed into it to `url`: by https where the document came by it, and where
 * the connection names allowed domains to the document's own site, to what it may be typed into, or to a service that takes logins.
 */
export function maySendTo(url: string, from: string, sites: AllowedSites, egress: EgressPolicy): boolean {
  if (!mayTypeInto(url, { ...sites, allowedDomains: [] }, egress)) return false;
  if (new URL(from).protocol === 'https:' && new URL(url).protocol !== 'https:') return false;
  return isSameSite(url, from) || LOGIN_SERVICES.test(new URL(url).hostname) || mayTypeInto(url, sites, egress);
}

/** Whom a stored value belongs to. */
export interface ValueOwner {
  /** Origin of the document that a person typed it into; null when it came by the API. */
  origin: string | null;
  /** Domain of its credential. */
  domain: string;
  /** The provider that its credential signs in through, or null. */
  ssoProvider: string | null;
  /** Addresses that an item of an external secret store names for itself. Where there are any, a connection adds none. */
  sites?: readonly string[];
}

/**
 * Whether a stored value may be typed into a document at `url`. What a person typed belongs to the site that it was typed
 * into, and to that very host where it belongs to a provider. What came by the API belongs to its credential's domain and
 * to the domains that the connection allows by name; with a provider, to the provider's hosts instead of the site.
 * A provider's password thus never goes into the site's own form, nor the other way round, and what belongs to one customer's host
 * at a provider not into another's. An item of an external secret
 * store that names its sites belongs to these alone: who may make a connection does not thereby choose where it is typed.
 */
export function mayTypeStoredValue(url: string, owner: ValueOwner, sites: AllowedSites, egress: EgressPolicy): boolean {
  if (!mayTypeInto(url, sites, egress)) return false;
  const { origin, domain, ssoProvider, sites: itemSites = [] } = owner;
  const { host, hostname, port } = new URL(url);
  if (origin !== null) return ssoProvider === null ? isSameOwner(url, origin) : host === new URL(origin).host;
  // The site itself is never its provider, even where somebody lists it among the allowed domains.
  if (ssoProvider !== null && isUnder(hostname, port, sites.domain)) return false;
  const tenants = [...itemSites, `https://${domain}/`].filter(isTenantHost);
  const isProviders =
    ssoProvider !== null && matchesHost(hostname, PROVIDER_HOSTS.get(ssoProvider.toLowerCase()) ?? []);
  if (isProviders && (tenants.length === 0 || tenants.some((tenant) => isSameOwner(url, tenant)))) return true;
  if (itemSites.length > 0) return itemSites.some((site) => isSameOwner(url, site));
  if (sites.allowedDomains.some((root) => isUnder(hostname, port, root))) return true;
  if (ssoProvider === null || tenants.length > 0) return isSameOwner(url, `https://${domain}/`);
  return isUnder(hostname, port, domain);
}

/** Whether two addresses belong to one site, and at a provider that gives each customer a host to one customer. */
function isSameOwner(url: string, other: string): boolean {
  if (!isSameSite(url, other)) return false;
  return new URL(url).host === new URL(other).host || !(isTenantHost(url) || isTenantHost(other));
}

function isTenantHost(address: string): boolean {
  return URL.canParse(address) && matchesHost(new URL(address).hostname, TENANT_HOSTS);
}

/**
 * Whether a passkey of the site `rpId` may be in a connection's sessions: the site, or one under it, is the connection's own, one
 * that it allows by name, or an identity provider. The browser sees to it that no other site is answered with it.
 */
export function mayUsePasskey(rpId: string, { domain, allowedDomains }: AllowedSites): boolean {
  const roots = [domain, ...allowedDomains].map((root) => new URL(`http://${root}/`).hostname.replace(/^www\./, ''));
  if (roots.some((root) => isWithin(root, rpId) || isWithin(rpId, root))) return true;
  return IDENTITY_PROVIDERS.some((host) => isWithin(host.replace('*.', ''), rpId));
}

/** Whether a person who acts on a page may be led to `url`: the connection's site, one that it allows by name, or an identity provider. */
export function mayNavigateTo(url: string, sites: AllowedSites): boolean {
  if (!URL.canParse(url)) return false;
  const address = new URL(url);
  if (address.protocol !== 'https:' && address.protocol !== 'http:') return url === 'about:blank';
  return isOwnSite(address, sites) || matchesHost(address.hostname, IDENTITY_PROVIDERS);
}

/** Whether an address is an identity provider's. */
export function isIdentityProvider(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' && matchesHost(hostname, IDENTITY_PROVIDERS);
}

function matchesHost(hostname: string, hosts: readonly string[]): boolean {
  return hosts.some((host) => (host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host));
}

/** Address of the document that wrote what a frame shows: a frame without an address of its own is written by its parent. */
export function authorUrl(frame: Pick<Frame, 'url' | 'parentFrame'>): string {
  const parent = frame.parentFrame();
  const own = frame.url();
  return parent !== null && /^about:(blank|srcdoc)/.test(own) ? authorUrl(parent) : own;
}
