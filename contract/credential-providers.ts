import { z } from 'zod';
import { HttpUrl } from './addresses.ts';

/** External secret stores for credentials. */
export const CredentialProviderType = z.enum(['onepassword', 'vault', 'bitwarden', 'aws_secrets_manager']);
export type CredentialProviderType = z.infer<typeof CredentialProviderType>;

/** How long lists of items are cached by default, in seconds. */
const DEFAULT_CACHE_TTL_S = 300;

const ProviderName = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .refine((name) => !name.includes('/') && name !== '.' && name !== '..', 'must not hold a slash, nor be `.` or `..`');
const Token = z.string().min(1).max(16_384).describe('Write-only');
const CacheTtl = z.int().min(0).max(86_400);
/** Location of the secret store; which members apply depends on its type. */
const place = {
  address: HttpUrl.describe('Base URL of the secret store; AWS Secrets Manager has one per region'),
  mount: z.string().min(1).max(255).describe('Vault: where the KV v2 engine is mounted (default `secret`)'),
  namespace: z.string().min(1).max(255).describe('Vault: the namespace'),
  region: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'must be the name of an AWS region')
    .describe('AWS Secrets Manager: the region (default `us-east-1`)'),
};

/** Body of `POST /org/credential_providers`. AWS tokens are `ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]`. */
export const CredentialProviderCreate = z.strictObject({
  name: ProviderName,
  provider_type: CredentialProviderType,
  token: Token,
  cache_ttl_seconds: CacheTtl.default(DEFAULT_CACHE_TTL_S),
  ...z.object(place).partial().shape,
});

/** Body of `PATCH /org/credential_providers/{id}`; null clears. */
export const CredentialProviderUpdate = z.strictObject({
  name: ProviderName.optional(),
  token: Token.optional(),
  cache_ttl_seconds: CacheTtl.optional(),
  enabled: z.boolean().optional(),
  priority: z.int().min(0).max(1_000_000).optional(),
  address: place.address.nullable().optional(),
  mount: place.mount.nullable().optional(),
  namespace: place.namespace.nullable().optional(),
  region: place.region.nullable().optional(),
});

/** An external credential provider, without its token. */
export const CredentialProvider = z.strictObject({
  id: z.string(),
  name: z.string(),
  provider_type: CredentialProviderType,
  enabled: z.boolean(),
  priority: z.int(),
  cache_ttl_seconds: z.int(),
  address: z.string().optional(),
  mount: z.string().optional(),
  namespace: z.string().optional(),
  region: z.string().optional(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type CredentialProvider = z.infer<typeof CredentialProvider>;

/** Answer of `POST /org/credential_providers/{id}/test`. */
export const CredentialProviderTest = z.strictObject({
  success: z.boolean(),
  vaults: z.array(z.strictObject({ id: z.string(), name: z.string() })),
  error: z.string().optional(),
});
export type CredentialProviderTest = z.infer<typeof CredentialProviderTest>;

/** One entry of an external secret store, without its values. */
export const CredentialProviderItem = z.strictObject({
  id: z.string(),
  path: z.string().describe('The value for `credential.path` of a connection'),
  title: z.string(),
  vault_id: z.string(),
  vault_name: z.string(),
  urls: z.array(z.string()),
});
export type CredentialProviderItem = z.infer<typeof CredentialProviderItem>;

/** Answer of `GET /org/credential_providers/{id}/items`. */
export const CredentialProviderItems = z.strictObject({ items: z.array(CredentialProviderItem) });
