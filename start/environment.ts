import { isIP } from 'node:net';
import { z } from 'zod';
import type { OidcRule } from '../api/people/oidc-rules.ts';
import { PLANS } from '../contract/limits.ts';
import { Role } from '../contract/people.ts';
import { parseAllowedHosts } from '../egress/policy.ts';
import { DEFAULT_ORGANIZATION_ID } from '../store/store.ts';

/** Offsets from HOLDFAST_PORT of the other ports. */
export const PORT_OFFSETS = { sandbox: 1, browser: 2, temporal: 4, temporalUi: 5, codec: 6 } as const;
const HIGHEST_PORT = 65_535 - PORT_OFFSETS.codec;

function wholeNumber(lowest: number, highest: number) {
  const rule = `must be a whole number from ${lowest} to ${highest}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, rule)
    .transform(Number)
    .refine((number) => number >= lowest && number <= highest, rule);
}

/** An empty variable counts as unset: compose files and shells often produce them. */
function optional<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (value === '' ? undefined : value), schema.optional());
}

const HttpBase = z
  .string()
  .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), 'must be an http(s) URL')
  .transform((value) => value.replace(/\/+$/, ''));

const MasterKeys = z.string().transform((value, ctx): [Buffer, ...Buffer[]] => {
  const [first, ...others] = value
    .split(',')
    .map((part) => (/^[0-9a-f]{64}$/i.test(part) ? Buffer.from(part, 'hex') : Buffer.from(part, 'base64')));
  if (first !== undefined && [first, ...others].every((key) => key.length === 32)) return [first, ...others];
  ctx.addIssue({ code: 'custom', message: 'must be 32 bytes in base64 or hex (make one: openssl rand -base64 32)' });
  return z.NEVER;
});

const AllowedHosts = z.string().refine(
  (value) => {
    try {
      parseAllowedHosts(value);
      return true;
    } catch {
      return false;
    }
  },
  { error: 'must be a comma-separated list of host or host:port' },
);

const TrustedProxies = z
  .string()
  .refine(
    (value) =>
      value
        .split(',')
        .every((part) => z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]).safeParse(part.trim()).success),
    'must be a comma-separated list of IP addresses or ranges such as 10.0.0.0/8',
  );

const Origins = z.string().transform((value, ctx) => {
  const origins = value.split(',').map((part) => part.trim());
  if (origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin && /^https?:/.test(origin))) {
    return origins;
  }
  ctx.addIssue({
    code: 'custom',
    message: 'must be a comma-separated list of origins such as https://app.example.com',
  });
  return z.NEVER;
});

/** `@example.com=viewer,group:admins=owner@org_other`: who gets which role, optionally in another organization. */
const OidcRules = z.string().transform((value, ctx): OidcRule[] => {
  const rules = value.split(',').map((part) => {
    const [, domain, group, role, organizationId = DEFAULT_ORGANIZATION_ID] =
      /^(?:@([^@=\s]+)|group:([^=]+))=([a-z]+)(?:@([\w-]+))?$/.exec(part.trim()) ?? [];
    const parsed = Role.safeParse(role);
    if (!parsed.success) return null;
    const who = domain === undefined ? { group: group ?? '' } : { domain: domain.toLowerCase() };
    return { who, organizationId, role: parsed.data };
  });
  if (rules.every((rule) => rule !== null)) return rules;
  ctx.addIssue({
    code: 'custom',
    message: 'must be a comma-separated list such as @example.com=viewer,group:admins=owner',
  });
  return z.NEVER;
});

const OidcIssuer = HttpBase.refine(
  (value) => value.startsWith('https:') || ['localhost', '127.0.0.1'].includes(new URL(value).hostname),
  'must be an https URL',
);

const DeploymentPart = z
  .string()
  .regex(/^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/, 'must be letters, digits, dots, dashes or underscores');

const OnOff = z.enum(['on', 'off'], 'must be on or off');
const VisibleAscii = z.string().regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces');

/** The environment variables of Holdfast, validated one by one and together. */
export const Environment = z
  .object({
    HOLDFAST_PORT: optional(wholeNumber(1, HIGHEST_PORT)),
    HOLDFAST_HOST: optional(z.string().refine((value) => isIP(value) !== 0, 'must be an IP address to listen on')),
    HOLDFAST_PUBLIC_URL: optional(HttpBase),
    HOLDFAST_API_URL: optional(HttpBase),
    HOLDFAST_API_KEY: optional(
      z
        .string()
        .min(20, 'must have 20 characters or more')
        .regex(/^[\x21-\x7e]*$/, 'must be printable ASCII without spaces (it travels in a header)'),
    ),
    HOLDFAST_PLAN: optional(z.enum(PLANS)),
    HOLDFAST_DATA_DIR: optional(z.string()),
    HOLDFAST_MASTER_KEY: optional(MasterKeys),
    HOLDFAST_ALLOW_PRIVATE_HOSTS: optional(AllowedHosts),
    HOLDFAST_TRUST_PROXY: optional(TrustedProxies),
    HOLDFAST_ALLOWED_ORIGINS: optional(Origins),
    HOLDFAST_OIDC_ISSUER: optional(OidcIssuer),
    HOLDFAST_OIDC_CLIENT_ID: optional(z.string()),
    HOLDFAST_OIDC_CLIENT_SECRET: optional(z.string()),
    HOLDFAST_OIDC_MEMBERS: optional(OidcRules),
    HOLDFAST_TIMELINE_DAYS: optional(wholeNumber(1, 36_500)),
    HOLDFAST_AUDIT_DAYS: optional(wholeNumber(1, 36_500)),
    HOLDFAST_RECORDING_DAYS: optional(wholeNumber(1, 36_500)),
    HOLDFAST_TELEMETRY_DAYS: optional(wholeNumber(1, 36_500)),
    HOLDFAST_CODEC: optional(OnOff),
    HOLDFAST_CODEC_ORIGINS: optional(Origins),
    HOLDFAST_TEMPORAL_UI_URL: optional(HttpBase),
    HOLDFAST_SANDBOX: optional(OnOff),
    DATABASE_URL: optional(
      z.string().refine((value) => /^postgres(ql)?:\/\//.test(value), 'must be a postgres:// or postgresql:// URL'),
    ),
    BROWSER_BASE_URL: optional(HttpBase),
    BROWSER_API_KEY: optional(z.string()),
    BROWSER_ALLOW_UNSANDBOXED_PROCESSES: optional(OnOff),
    BROWSER_ALLOW_PROCESS_NETWORK: optional(OnOff),
    BROWSER_PROCESS_MEMORY_MB: optional(wholeNumber(16, 1_048_576)),
    BROWSER_PROCESS_COUNT: optional(wholeNumber(8, 1_000_000)),
    BROWSER_PROCESS_FILE_MB: optional(wholeNumber(1, 1_048_576)),
    BROWSER_PROCESS_NICE: optional(wholeNumber(0, 19)),
    BROWSER_MAX_SESSIONS: optional(wholeNumber(1, 10_000)),
    BROWSER_WINDOWS: optional(z.enum(['default', 'on-request', 'never'], 'must be default, on-request or never')),
    CHROMIUM_PATH: optional(z.string()),
    HOLDFAST_MAX_BROWSERS: optional(wholeNumber(1, 500)),
    HOLDFAST_MAX_CHECKS: optional(wholeNumber(1, 500)),
    HOLDFAST_METRICS_PORT: optional(wholeNumber(1, HIGHEST_PORT)),
    HOLDFAST_SMTP_PORT: optional(wholeNumber(1, 65_535)),
    HOLDFAST_SEARCH_DOMAINS: optional(z.enum(['hashed', 'clear'], 'must be hashed or clear')),
    HOLDFAST_MODEL_URL: optional(HttpBase),
    HOLDFAST_MODEL_NAME: optional(z.string().max(200, 'must have 200 characters at most')),
    HOLDFAST_MODEL_KEY: optional(VisibleAscii),
    HOLDFAST_GITHUB_API_URL: optional(HttpBase),
    HOLDFAST_CAPTCHA_URL: optional(HttpBase),
    HOLDFAST_CAPTCHA_KEY: optional(VisibleAscii),
    HOLDFAST_EXPORT_SERVICE_ROLE_ARN: optional(
      z
        .string()
        .max(2048, 'must have 2048 characters at most')
        .regex(/^arn:[\x21-\x7e]+$/, 'must be an ARN, such as arn:aws:iam::111122223333:role/holdfast'),
    ),
    HOLDFAST_EXPORT_S3_ENDPOINT: optional(HttpBase),
    HOLDFAST_EXPORT_STS_ENDPOINT: optional(HttpBase),
    HOLDFAST_EXPORT_ACCESS_KEY_ID: optional(z.string().regex(/^\S*$/, 'must have no spaces')),
    HOLDFAST_EXPORT_SECRET_ACCESS_KEY: optional(z.string().regex(/^\S*$/, 'must have no spaces')),
    TEMPORAL_ADDRESS: optional(z.string().regex(/^\S+$/, 'must be host:port')),
    TEMPORAL_CONFIG_FILE: optional(z.string()),
    TEMPORAL_PROFILE: optional(z.string()),
    TEMPORAL_DEPLOYMENT_NAME: optional(DeploymentPart),
    TEMPORAL_WORKER_BUILD_ID: optional(DeploymentPart),
  })
  .superRefine((read, ctx) => {
    if (read.HOLDFAST_OIDC_ISSUER !== undefined)
      for (const name of ['HOLDFAST_OIDC_CLIENT_ID', 'HOLDFAST_OIDC_CLIENT_SECRET'] as const)
        if (read[name] === undefined)
          ctx.addIssue({ code: 'custom', path: [name], message: 'must be set with HOLDFAST_OIDC_ISSUER' });
    if (read.HOLDFAST_MODEL_URL !== undefined && read.HOLDFAST_MODEL_NAME === undefined)
      ctx.addIssue({ code: 'custom', path: ['HOLDFAST_MODEL_NAME'], message: 'must be set with HOLDFAST_MODEL_URL' });
    if (read.HOLDFAST_CAPTCHA_KEY !== undefined && read.HOLDFAST_CAPTCHA_URL === undefined)
      ctx.addIssue({
        code: 'custom',
        path: ['HOLDFAST_CAPTCHA_URL'],
        message: 'must be set with HOLDFAST_CAPTCHA_KEY',
      });
    const keys = ['HOLDFAST_EXPORT_ACCESS_KEY_ID', 'HOLDFAST_EXPORT_SECRET_ACCESS_KEY'] as const;
    const version = ['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID'] as const;
    for (const [pair, rule] of [
      [keys, 'an access key has an id and a secret'],
      [version, 'a worker version has a name and a build'],
    ] as const) {
      const missing = pair.filter((name) => read[name] === undefined);
      if (missing.length === 1) ctx.addIssue({ code: 'custom', path: missing, message: `must be set too: ${rule}` });
    }
  });
