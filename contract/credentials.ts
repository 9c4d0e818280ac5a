import { z } from 'zod';
import { DomainName } from './addresses.ts';
import { MAX_FIELD_VALUE_LENGTH } from './limits.ts';
import { MAX_PASSKEYS, PasskeyName, Passkeys } from './passkeys.ts';
import { ResourceName } from './resource-name.ts';
import { readTotpSecret, TOTP_ALGORITHMS, TOTP_BOUNDS } from './totp-secret.ts';

/** Most values that one credential holds. */
const MAX_VALUES = 100;

/** Values of a credential by name (the `ref` of a field). Write-only: no response holds one. */
const Values = z
  .record(z.string().min(1).max(200), z.string().max(MAX_FIELD_VALUE_LENGTH))
  .refine((values) => Object.keys(values).length <= MAX_VALUES, `must hold ${MAX_VALUES} values or fewer`);

const MaybeTotpSecret = z
  .string()
  .max(1024)
  .refine(
    (text) => text === '' || readTotpSecret(text) !== null,
    'must be a base32 secret of 16 characters or more (A-Z, 2-7), or an otpauth://totp/ address that holds one',
  );

/** Base32 in any spacing and case, or an `otpauth://totp/` address with its period, digits and algorithm. */
const TotpSecret = MaybeTotpSecret.refine((text) => text !== '', 'must not be empty');

/** The settings of an `otpauth://totp/` address, for a plain secret; an address overrides them. */
const totpSettings = {
  totp_algorithm: z.enum(TOTP_ALGORITHMS).optional(),
  totp_digits: z.int().min(TOTP_BOUNDS.digits.min).max(TOTP_BOUNDS.digits.max).optional(),
  totp_period: z.int().min(TOTP_BOUNDS.period.min).max(TOTP_BOUNDS.period.max).optional().describe('Seconds'),
};

/** The settings have no meaning without the secret they come with. */
function hasSecretForSettings(body: {
  totp_secret?: string | undefined;
  totp_algorithm?: unknown;
  totp_digits?: unknown;
  totp_period?: unknown;
}): boolean {
  const { totp_secret: secret = '', totp_algorithm: algorithm, totp_digits: digits, totp_period: period } = body;
  return secret !== '' || (algorithm ?? digits ?? period) === undefined;
}
const SECRET_NEEDED = {
  path: ['totp_secret'],
  message: 'required with `totp_algorithm`, `totp_digits` and `totp_period`',
};

/** Body of `POST /credentials`. */
export const CredentialCreate = z
  .strictObject({
    name: ResourceName,
    domain: DomainName,
    values: Values,
    totp_secret: TotpSecret.optional(),
    ...totpSettings,
    passkeys: Passkeys.optional(),
    sso_provider: z.string().min(1).max(200).optional(),
  })
  .refine(hasSecretForSettings, SECRET_NEEDED);
export type CredentialCreate = z.infer<typeof CredentialCreate>;

/** Body of `PATCH /credentials/{id or name}`: removals first, then `values` and `passkeys` are merged. */
export const CredentialUpdate = z
  .strictObject({
    name: ResourceName.optional(),
    remove_value_keys: z.array(z.string().min(1).max(200)).max(MAX_VALUES).optional(),
    values: Values.optional(),
    totp_secret: MaybeTotpSecret.optional().describe('Empty removes it'),
    ...totpSettings,
    remove_passkeys: z.array(z.string().min(1).max(1400)).max(MAX_PASSKEYS).optional().describe('By `credential_id`'),
    passkeys: Passkeys.optional(),
    sso_provider: z.string().max(200).nullable().optional(),
  })
  .refine(hasSecretForSettings, SECRET_NEEDED);
export type CredentialUpdate = z.infer<typeof CredentialUpdate>;

/** A credential without its values. `value_keys` and `passkeys` only when read individually. */
export const Credential = z.strictObject({
  id: z.string(),
  name: z.string(),
  domain: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  has_values: z.boolean(),
  has_totp_secret: z.boolean(),
  has_passkeys: z.boolean(),
  sso_provider: z.string().nullable(),
  value_keys: z.array(z.string()).optional(),
  passkeys: z.array(PasskeyName).optional(),
});
export type Credential = z.infer<typeof Credential>;

/** Answer of `GET /credentials/{id or name}/totp-code`. */
export const TotpCode = z.strictObject({ code: z.string(), expires_at: z.string() });
