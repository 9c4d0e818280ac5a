import { z } from 'zod';
import { HttpUrl, normalizeDomain } from './addresses.ts';

/** Most hosts that may bypass a proxy. */
const MAX_BYPASS_HOSTS = 100;

/** Proxy types of the interface. Holdfast provides no proxies: only `custom`, the caller's own, is available. */
const ProxyType = z
  .enum(['datacenter', 'isp', 'residential', 'mobile', 'custom'])
  .refine((type) => type === 'custom', 'must be `custom`: Holdfast provides no proxies; use your own')
  .meta({ examples: ['custom'] });

/** A host name or address without a port, in its normalized spelling; IPv6 without brackets. */
const ProxyHost = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .transform((value, ctx) => {
    const host = normalizeHost(value);
    if (host !== null) return host;
    ctx.addIssue({ code: 'custom', message: 'must be a host name or an address, without a scheme or a port' });
    return z.NEVER;
  });

/** `example.com` for that host only, `*.example.com` for all its subdomains. */
const BypassHost = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .transform((value, ctx) => {
    const below = value.startsWith('*.');
    const host = normalizeHost(below ? value.slice(2) : value);
    if (host !== null) return below ? `*.${host}` : host;
    ctx.addIssue({ code: 'custom', message: 'must be a host name such as example.com or *.example.com' });
    return z.NEVER;
  });

/** Basic authentication separates user name and password by a colon (RFC 7617). */
const Username = z
  .string()
  .min(1)
  .max(255)
  .refine((value) => /^[^:\p{Cc}]*$/u.test(value), 'must contain neither a colon nor a control character');
const Password = z
  .string()
  .min(1)
  .max(1024)
  .refine((value) => /^\P{Cc}*$/u.test(value), 'must not contain a control character');

/** Names are labels: trimmed, not unique. */
const Name = z.string().trim().min(1).max(255);

/** The protocol of the proxy itself. Either works for pages of both schemes. */
const ProxyProtocol = z.enum(['http', 'https']);
export type ProxyProtocol = z.infer<typeof ProxyProtocol>;

/** Result of the last check of a proxy. */
const ProxyStatus = z.enum(['available', 'unavailable']);
export type ProxyStatus = z.infer<typeof ProxyStatus>;

/** Body of `POST /proxies`. The password is write-only. */
export const ProxyCreate = z.strictObject({
  type: ProxyType,
  name: Name.optional(),
  protocol: ProxyProtocol.default('http'),
  bypass_hosts: z.array(BypassHost).max(MAX_BYPASS_HOSTS).optional(),
  config: z.strictObject({
    host: ProxyHost,
    port: z.int().min(1).max(65_535),
    username: Username.optional(),
    password: Password.optional(),
  }),
});

/** Body of `PATCH /proxies/{id}`. */
export const ProxyUpdate = z.strictObject({ name: Name });

/** Body of `POST /proxies/{id}/check`; may be absent. */
export const ProxyCheck = z.strictObject({ url: HttpUrl.optional() }).nullish();

/** A proxy, without its password. `status` and `last_checked` are absent before its first check. */
export const Proxy = z.strictObject({
  id: z.string(),
  name: z.string().optional(),
  type: z.literal('custom'),
  protocol: ProxyProtocol,
  bypass_hosts: z.array(z.string()).optional(),
  config: z.strictObject({
    host: z.string(),
    port: z.int(),
    username: z.string().optional(),
    has_password: z.boolean(),
  }),
  status: ProxyStatus.optional(),
  last_checked: z.string().optional(),
});
export type Proxy = z.infer<typeof Proxy>;

/** ProxyRef: exactly one of `id` and `name`. */
export const ProxyRef = z
  .strictObject({ id: z.string().min(1).max(255).optional(), name: z.string().min(1).max(255).optional() })
  .refine((ref) => (ref.id === undefined) !== (ref.name === undefined), { message: 'give either `id` or `name`' });
export type ProxyRef = z.infer<typeof ProxyRef>;

/** BrowserProxyConfig: exactly one of `id`, `name` and `mode`. Without provided proxies, `default` means a direct connection. */
export const BrowserProxyConfig = z
  .strictObject({
    id: z.string().min(1).max(255).optional(),
    name: z.string().min(1).max(255).optional(),
    mode: z.enum(['direct', 'default']).optional(),
  })
  .refine((config) => [config.id, config.name, config.mode].filter((one) => one !== undefined).length === 1, {
    message: 'give exactly one of `id`, `name` and `mode`',
  });
export type BrowserProxyConfig = z.infer<typeof BrowserProxyConfig>;

/** The last failure of a proxy: unreachable, private address, rejected credentials, or no response from the target. */
export const ProxyFault = z.enum(['unreachable', 'address_refused', 'credentials_refused', 'target_unreached']);
export type ProxyFault = z.infer<typeof ProxyFault>;

/** A session's proxy: the chosen one, or `direct`; and its last failure, if any. */
export const BrowserProxy = z.strictObject({
  id: z.string().optional(),
  name: z.string().optional(),
  mode: z.literal('direct').optional(),
  last_fault: ProxyFault.optional(),
});
export type BrowserProxy = z.infer<typeof BrowserProxy>;

function normalizeHost(value: string): string | null {
  // IPv6 addresses are bracketed for parsing; anything else with a colon becomes invalid, which rejects ports.
  const bracketed = value.includes(':') && !value.startsWith('[') ? `[${value}]` : value;
  const host = normalizeDomain(bracketed);
  if (host === null || /\]:|^[^[]*:/.test(host)) return null;
  return host.replace(/^\[|\]$/g, '');
}
