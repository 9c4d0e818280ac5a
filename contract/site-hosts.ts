import { getDomain } from 'tldts';

/** The sites of a connection. `domain` may have a port; an empty list restricts nothing (interface.md). */
export interface AllowedSites {
  domain: string;
  allowedDomains: string[];
}

/** True for addresses with the same registrable domain; for an IP or `localhost`, with the same host and port. */
export function isSameSite(one: string, other: string): boolean {
  return siteOf(one) === siteOf(other);
}

function siteOf(address: string): string {
  const { host, hostname } = new URL(address);
  return getDomain(hostname, { allowPrivateDomains: true }) ?? host;
}

/** True for `root` or a subdomain of it; `root` may have a port, and its `www.` is ignored. */
export function isUnder(hostname: string, port: string, root: string): boolean {
  const url = new URL(`http://${root}/`);
  if (url.port !== '' && url.port !== port) return false;
  return isWithin(hostname, url.hostname.replace(/^www\./, ''));
}

/** True for `root` or a subdomain of it, both without a port. */
export function isWithin(hostname: string, root: string): boolean {
  return hostname === root || hostname.endsWith(`.${root}`);
}

/** True for a host of the connection's domain or of one it allows by name. */
export function isAllowedByName({ hostname, port }: URL, { domain, allowedDomains }: AllowedSites): boolean {
  return [domain, ...allowedDomains].some((root) => isUnder(hostname, port, root));
}

/** The same, or another host of the registrable domain of the connection. */
export function isOwnSite(url: URL, sites: AllowedSites): boolean {
  return isSameSite(url.href, `http://${sites.domain}/`) || isAllowedByName(url, sites);
}

/** True for a link to the connection's own site or an allowed domain, by https or, on localhost, http. */
export function isOwnLink(link: string, sites: AllowedSites): boolean {
  if (!URL.canParse(link)) return false;
  const url = new URL(link);
  const { protocol, hostname, username } = url;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost') || /^127\./.test(hostname);
  if (username !== '' || !(protocol === 'https:' || (protocol === 'http:' && isLocal))) return false;
  return isOwnSite(url, sites);
}
