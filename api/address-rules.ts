import { isIP } from 'node:net';
import { normalizeAllowedDomain } from '../contract/addresses.ts';
import { invalidField } from '../contract/errors.ts';
import type { AddressPolicy } from './context.ts';

const DEFAULT_PORTS: Record<string, number> = { 'http:': 80, 'https:': 443 };

/** Rejects a `domain` that is a private or loopback address, unless the operator listed it. Names are checked when they resolve. */
export function checkDomain(policy: AddressPolicy, domain: string): void {
  rejectPrivate(policy, 'domain', new URL(`https://${domain}/`));
}

/** Rejects a URL that secrets are sent to if it is private or plain http, unless the operator listed its host. */
export function checkServerUrl(policy: AddressPolicy, field: string, text: string): void {
  const url = new URL(text);
  rejectPrivate(policy, field, url);
  if (url.protocol === 'http:' && !policy.isListed(url.hostname, portOf(url))) {
    throw invalidField(field, 'must be https; http is for hosts that the operator listed');
  }
}

/** `allowed_domains`, normalized and without duplicates. */
export function normalizeAllowedDomains(entries: readonly string[]): string[] {
  const normalized = entries.map((entry, index) => {
    const domain = normalizeAllowedDomain(entry);
    if (domain === null) throw invalidField(`allowed_domains.${index}`, 'must be a hostname such as example.com');
    return domain;
  });
  return [...new Set(normalized)];
}

function rejectPrivate(policy: AddressPolicy, field: string, url: URL): void {
  if (isForbiddenHost(policy, url.hostname, portOf(url)))
    throw invalidField(field, `${url.hostname} is a private address; the operator can list it as an allowed host`);
}

/** Whether an address or name is private, without a DNS lookup; false if the operator listed it. */
export function isForbiddenHost(policy: AddressPolicy, hostname: string, port: number): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const isLoopbackName = host === 'localhost' || host.endsWith('.localhost');
  const isPrivate = isIP(host) === 0 ? isLoopbackName : policy.forbiddenRange(host) !== null;
  return isPrivate && !policy.isListed(hostname, port);
}

function portOf(url: URL): number {
  return url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port);
}
