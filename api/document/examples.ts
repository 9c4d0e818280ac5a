import { z } from 'zod';

/** The parts of a JSON schema that examples are built from. */
const Schema = z.object({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  prefixItems: z.array(z.unknown()).optional(),
  minLength: z.number().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  default: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
  minimum: z.number().optional(),
  minItems: z.number().optional(),
  examples: z.array(z.unknown()).optional(),
});
type Schema = z.infer<typeof Schema>;

const TIMESTAMP = '2026-01-31T09:30:00.000Z';

/** Example values of properties, by name. */
const VALUES: Record<string, unknown> = {
  action_name: 'run',
  app_name: 'orders',
  browser_pool_config: { size: 2 },
  base_url: 'https://holdfast.example/browsers/brw_1',
  bucket: 'audit-of-ours',
  client_ip: '203.0.113.7',
  code: '123456',
  connection_id: 'conn_1',
  cdp_ws_url: 'wss://holdfast.example/browsers/brw_1/cdp?jwt=…',
  client_name: 'An agent',
  command: 'ls',
  data_b64: 'aGVsbG8=',
  dest_path: '/tmp/report.pdf',
  domain: 'example.com',
  email: 'ann@example.com',
  entrypoint_rel_path: 'index.ts',
  env_vars: {},
  env: {},
  events: ['connection.needs_auth'],
  field_values: { fld_user: 'ann@example.com' },
  fields: { username: 'ann@example.com' },
  host: 'proxy.example.com',
  hosted_url: 'https://holdfast.example/login/conn_1',
  label: 'E-mail',
  level: 'info',
  login_url: 'https://example.com/login',
  masked_key: 'hf_live_…a1b2',
  message: 'Signed in',
  mode: '0644',
  name: 'work',
  password: 'correct horse battery',
  path: '/tmp/report.pdf',
  port: 3128,
  profile_name: 'ann',
  region: 'eu-west-1',
  role_arn: 'arn:aws:iam::123456789012:role/audit',
  session_id: 'brw_1',
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  service_role_arn: 'arn:aws:iam::111122223333:role/holdfast',
  src_path: '/tmp/draft.pdf',
  stderr_b64: '',
  stdout_b64: 'aGVsbG8=',
  text: 'Hello',
  token: 'a-token',
  totp_secret: 'JBSWY3DPEHPK3PXP',
  url: 'https://example.com/hook',
  webdriver_ws_url: 'wss://holdfast.example/browsers/brw_1/bidi?jwt=…',
  user_agent: 'curl/8.5.0',
  value_keys: ['password', 'username'],
  values: { username: 'ann@example.com', password: 'correct horse' },
};

const FORMATS: Record<string, string> = {
  'date-time': TIMESTAMP,
  uri: 'https://example.com/',
  email: 'ann@example.com',
};

/**
 * A minimal value that a schema allows: its required properties, or the first if none is required. `id`: the value of `id`
 * properties.
 */
export function exampleOf(described: unknown, id: string, name = ''): unknown {
  const { data: schema, success } = Schema.safeParse(described);
  if (!success) return null;
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const kinds = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (kinds !== undefined) return exampleOf(kinds[0], id, name);
  const known = name === 'id' ? id : VALUES[name];
  if (known !== undefined && isOfType(known, schema.type))
    return typeof known === 'string' ? known.padEnd(schema.minLength ?? 0, known) : known;
  if (schema.default !== undefined) return schema.default;
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'string':
      return stringFor(name, schema.format);
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      return true;
    case 'array':
      if (schema.prefixItems !== undefined) return schema.prefixItems.map((item) => exampleOf(item, id, name));
      return Array.from({ length: Math.max(schema.minItems ?? 1, 1) }, () => exampleOf(schema.items, id, name));
    case 'object':
      return propertiesOf(schema, id);
    default:
      return null;
  }
}

function propertiesOf({ properties = {}, required = [] }: Schema, id: string): Record<string, unknown> {
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
  return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name], id, name)]));
}

function stringFor(name: string, format: string | undefined): string {
  if (name.endsWith('_at') || name === 'timestamp') return TIMESTAMP;
  if (name.endsWith('_url')) return 'https://example.com/';
  return FORMATS[format ?? ''] ?? (name === '' ? 'text' : name);
}

function isOfType(value: unknown, type: Schema['type']): boolean {
  const own = Array.isArray(value) ? 'array' : typeof value;
  return type === undefined || [type].flat().some((one) => one === own || (own === 'number' && one === 'integer'));
}
