import type { Frame } from 'playwright-core';
import { getDomain } from 'tldts';
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

/** Identity providers where a person may always type, whatever domains a connection allows. */
const IDENTITY_PROVIDERS: readonly string[] = [...PROVIDER_HOSTS.values()].flat();

/** What a connection allows. `domain` may carry a port; an empty list restricts nothing (interface.md). */
export interface AllowedSites {
  domain: string;
  allowedDomains: string[];
}

/**
 * Whether a credential may be typed into a document at `url`: https (http only for a private host that the operator
 * listed), and, when the connection names allowed domains, a host among them, its own domain or an identity provider.
 */
export function mayTypeInto(url: string, sites: AllowedSites, egress: EgressPolicy): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'https:') {
    const effectivePort = port === '' ? 80 : Number(port);
    if (protocol !== 'http:' || !isListedHost(egress, hostname, effectivePort)) return false;
  }
  if (sites.allowedDomains.length === 0) return true;
  if ([sites.domain, ...sites.allowedDomains].some((root) => isUnder(hostname, port, root))) return true;
  return isAmong(hostname, IDENTITY_PROVIDERS);
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
 * A provider's password thus never goes into the site's own form, nor the other way round. An item of an external secret
 * store that names its sites belongs to these alone: who may make a connection does not thereby choose where it is typed.
 */
export function mayTypeStored(url: string, owner: ValueOwner, sites: AllowedSites, egress: EgressPolicy): boolean {
  if (!mayTypeInto(url, sites, egress)) return false;
  const { origin, domain, ssoProvider, sites: itemSites = [] } = owner;
  const { host, hostname, port } = new URL(url);
  if (origin !== null) return ssoProvider === null ? isSameSite(url, origin) : host === new URL(origin).host;
  // The site itself is never its provider, even where somebody lists it among the allowed domains.
  if (ssoProvider !== null && isUnder(hostname, port, sites.domain)) return false;
  if (ssoProvider !== null && isAmong(hostname, PROVIDER_HOSTS.get(ssoProvider.toLowerCase()) ?? [])) return true;
  if (itemSites.length > 0) return itemSites.some((site) => isSameSite(url, site));
  if (sites.allowedDomains.some((root) => isUnder(hostname, port, root))) return true;
  return ssoProvider === null ? isSameSite(url, `https://${domain}/`) : isUnder(hostname, port, domain);
}

/** Whether two addresses belong to one registrable domain; an address without one (an IP, `localhost`) is a site by host and port. */
export function isSameSite(one: string, other: string): boolean {
  return siteOf(one) === siteOf(other);
}

function siteOf(address: string): string {
  const { host, hostname } = new URL(address);
  return getDomain(hostname, { allowPrivateDomains: true }) ?? host;
}

function isAmong(hostname: string, hosts: readonly string[]): boolean {
  return hosts.some((host) => (host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host));
}

/** Address of the document that wrote what a frame shows: a frame without an address of its own is written by its parent. */
export function authorUrl(frame: Pick<Frame, 'url' | 'parentFrame'>): string {
  const parent = frame.parentFrame();
  const own = frame.url();
  return parent !== null && /^about:(blank|srcdoc)/.test(own) ? authorUrl(parent) : own;
}

function isUnder(hostname: string, port: string, root: string): boolean {
  const url = new URL(`http://${root}/`);
  if (url.port !== '' && url.port !== port) return false;
  const host = url.hostname.replace(/^www\./, '');
  return hostname === host || hostname.endsWith(`.${host}`);
}
