import { z } from 'zod';

/** A hostname with an optional port, lower case (`example.com`, `localhost:8081`). Non-ASCII names become `xn--…`. */
export const DomainName = z
  .string()
  .trim()
  .min(1)
  .max(260)
  .transform((value, ctx) => {
    const normalized = normalizeDomain(value);
    if (normalized === null) {
      ctx.addIssue({
        code: 'custom',
        message: 'must be a hostname, with a port where needed (example.com, host:8443)',
      });
      return z.NEVER;
    }
    return normalized;
  });

/** An absolute http or https URL without user or password. */
export const HttpUrl = z
  .string()
  .max(4096)
  .refine((value) => {
    const url = URL.canParse(value) ? new URL(value) : null;
    return url !== null && ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === '';
  }, 'must be an absolute http(s) URL without user or password');

/** `host[:port]` in its normalized spelling, or null if it is not one. */
export function normalizeDomain(value: string): string | null {
  if (/[\s/\\?#@]/.test(value) || value.includes('://')) return null;
  const text = `http://${value}/`;
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const host = url.hostname.replace(/\.$/, '');
  const labels = /^(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*$/;
  if (!host.startsWith('[') && (!labels.test(host) || host.length > 253)) return null;
  const port = url.port === '' && /:80$/.test(value) ? '80' : url.port;
  return port === '' ? host : `${host}:${port}`;
}

/** An entry of `allowed_domains` in its normalized spelling: leading `www.` and `*.` labels are dropped (interface.md). */
export function normalizeAllowedDomain(value: string): string | null {
  let rest = value.trim().toLowerCase();
  while (rest.startsWith('*.') || rest.startsWith('www.')) rest = rest.slice(rest.indexOf('.') + 1);
  return normalizeDomain(rest);
}
