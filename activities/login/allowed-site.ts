import type { Frame } from 'playwright-core';
import { isListedHost, type EgressPolicy } from '../../egress/policy.ts';

/** Identity providers where a credential may always be typed (wire.md); a leading `*.` stands for any subdomain. */
export const IDENTITY_PROVIDERS = [
  'accounts.google.com',
  'login.microsoftonline.com',
  'login.live.com',
  '*.okta.com',
  '*.oktapreview.com',
  '*.auth0.com',
  'appleid.apple.com',
  'github.com',
  'www.facebook.com',
  'www.linkedin.com',
  '*.amazoncognito.com',
  '*.onelogin.com',
  '*.pingone.com',
  '*.pingidentity.com',
] as const;

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
  return IDENTITY_PROVIDERS.some((provider) =>
    provider.startsWith('*.') ? hostname.endsWith(provider.slice(1)) : hostname === provider,
  );
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
