import { getDomain } from 'tldts';

/** What a connection allows. `domain` may carry a port; an empty list restricts nothing (interface.md). */
export interface AllowedSites {
  domain: string;
  allowedDomains: string[];
}

/** Whether two addresses belong to one registrable domain; an address without one (an IP, `localhost`) is a site by host and port. */
export function isSameSite(one: string, other: string): boolean {
  return siteOf(one) === siteOf(other);
}

function siteOf(address: string): string {
  const { host, hostname } = new URL(address);
  return getDomain(hostname, { allowPrivateDomains: true }) ?? host;
}

/** Whether a host is `root` or below it; `root` may carry a port, and its `www.` counts for nothing. */
export function isUnder(hostname: string, port: string, root: string): boolean {
  const url = new URL(`http://${root}/`);
  if (url.port !== '' && url.port !== port) return false;
  return isWithin(hostname, url.hostname.replace(/^www\./, ''));
}

/** Whether a host is `root` or a subdomain of it; neither has a port. */
export function isWithin(hostname: string, root: string): boolean {
  return hostname === root || hostname.endsWith(`.${root}`);
}

/** Whether an address leads to a host of the connection's domain, or of one that it allows by name. */
export function isAllowedByName({ hostname, port }: URL, { domain, allowedDomains }: AllowedSites): boolean {
  return [domain, ...allowedDomains].some((root) => isUnder(hostname, port, root));
}

/** The same, or to the site of its domain: another host of the registrable domain. */
export function isOwnSite(url: URL, sites: AllowedSites): boolean {
  return isSameSite(url.href, `http://${sites.domain}/`) || isAllowedByName(url, sites);
}

/**
 * Whether a link that a message holds leads to the connection's own site, or to a domain that it allows by name, and nowhere
 * else: not to a provider, nor to a service that counts clicks. By https; by http to this machine alone.
 */
export function isOwnLink(link: string, sites: AllowedSites): boolean {
  if (!URL.canParse(link)) return false;
  const url = new URL(link);
  const { protocol, hostname, username } = url;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost') || /^127\./.test(hostname);
  if (username !== '' || !(protocol === 'https:' || (protocol === 'http:' && isLocal))) return false;
  return isOwnSite(url, sites);
}
