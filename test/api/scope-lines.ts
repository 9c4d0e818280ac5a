/** Callers in the scope matrix: every kind of credential. */
export type Credential =
  | 'organization'
  | 'project'
  | 'other project'
  | 'other organization'
  | 'hosted page'
  | 'code token'
  | Person
  /** An OAuth client that acts for an owner, limited to the project. */
  | 'program'
  | 'nobody'
  | 'stranger';

/** People in the console, by role. */
export type Person = 'owner' | 'operator' | 'viewer';

/** Resources of a project in the matrix, by path parameter. */
export type Held =
  | 'connection'
  | 'credential'
  | 'profile'
  | 'proxy'
  | 'apiKey'
  | 'webhook'
  | 'extension'
  | 'deployment'
  | 'invocation'
  | 'codeSource'
  | 'project';

/** Resources of the whole organization. */
export type OfOrganization = 'credentialProvider' | 'exportDestination' | 'oauthGrant' | 'member' | 'invitation';

/** A line of the matrix: the kind of a route, and what to send so that only scope decides. */
export type Line =
  /** Open to everyone. */
  | { kind: 'public' }
  /** Names no existing resource: every key may call it, within its scope. */
  | { kind: 'own'; body?: object; query?: string }
  /** Lists resources of a scope. */
  | { kind: 'list'; of: Held; query?: string }
  /** Concerns one resource of a project; `beside` also allows the token of its connection. */
  | { kind: 'one'; of: Held; body?: object; beside?: 'hosted page' | 'code token'; wideOnly?: true }
  /** For organization-wide keys: changes the organization or one of its resources. */
  | { kind: 'wide'; of?: OfOrganization; body?: object }
  /** Concerns one resource of the organization that all its keys may read. */
  | { kind: 'shared'; of: OfOrganization }
  /** Concerns a person's session, for the console only; `people` is the status for every role. */
  | { kind: 'session'; people: number; body?: object }
  /** Starts a session, for our own pages only; `answers` is the status for a body without proof of identity. */
  | { kind: 'sign-in'; answers: number; body?: object }
  /** Grants of OAuth clients: a person's own, or all for an organization-wide key. */
  | { kind: 'grants'; of?: OfOrganization };

const own = (body?: object): Line => ({ kind: 'own', ...(body === undefined ? {} : { body }) });
const list = (of: Held, query?: string): Line => ({ kind: 'list', of, ...(query === undefined ? {} : { query }) });
const one = (of: Held, body?: object, beside?: 'hosted page' | 'code token'): Line => ({
  kind: 'one',
  of,
  ...(body === undefined ? {} : { body }),
  ...(beside === undefined ? {} : { beside }),
});
const wide = (body?: object, of?: OfOrganization): Line => ({
  kind: 'wide',
  ...(body === undefined ? {} : { body }),
  ...(of === undefined ? {} : { of }),
});
const session = (people: number, body?: object): Line => ({
  kind: 'session',
  people,
  ...(body === undefined ? {} : { body }),
});
const signIn = (answers: number, body?: object): Line => ({
  kind: 'sign-in',
  answers,
  ...(body === undefined ? {} : { body }),
});
const CODE = { code: 'x'.repeat(43) };
const SIGNED = { clientDataJSON: 'x', authenticatorData: 'x', signature: 'x' };
const PASSKEY = { id: 'x', rawId: 'x', type: 'public-key' };
const PUBLIC: Line = { kind: 'public' };
const BUCKET = { prefix: '', region: 'eu-west-1', role_arn: 'arn:aws:iam::123456789012:role/x' };
const DAYS = 'start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z';

/** Every documented operation except those on browser sessions and pools, which are forwarded with their projects. */
export const LINES: Record<string, Line> = {
  'GET /health': PUBLIC,
  'GET /auth/context': own(),
  'POST /auth/connections': own({ domain: 'new.example', profile_name: 'new' }),
  'GET /auth/connections': list('connection'),
  'GET /auth/connections/summary': own(),
  'GET /auth/connections/{id}': one('connection', undefined, 'hosted page'),
  'PATCH /auth/connections/{id}': one('connection', { auto_reauth: false }),
  'DELETE /auth/connections/{id}': one('connection'),
  'POST /auth/connections/{id}/check': one('connection'),
  'GET /auth/connections/{id}/timeline': one('connection'),
  'POST /auth/connections/{id}/login': one('connection'),
  'POST /auth/connections/{id}/exchange': PUBLIC,
  'POST /auth/connections/{id}/submit': one('connection', { fields: { user: 'ann' } }, 'hosted page'),
  'POST /auth/connections/{id}/codes': one('connection', { code: '123456' }, 'code token'),
  'POST /auth/connections/{id}/codes/tokens': one('connection'),
  'GET /auth/connections/{id}/events': one('connection', undefined, 'hosted page'),
  'POST /org/api_keys': own({ name: 'new' }),
  'GET /org/api_keys': list('apiKey'),
  'GET /org/api_keys/{id}': one('apiKey'),
  'PATCH /org/api_keys/{id}': one('apiKey', { name: 'renamed' }),
  'DELETE /org/api_keys/{id}': one('apiKey'),
  'POST /org/api_keys/{id}/rotate': one('apiKey'),
  'POST /credentials': own({ name: 'new', domain: 'new.example', values: { user: 'ann' } }),
  'GET /credentials': list('credential'),
  'GET /credentials/{id_or_name}': one('credential'),
  'PATCH /credentials/{id_or_name}': one('credential', { values: { user: 'bob' } }),
  'DELETE /credentials/{id_or_name}': one('credential'),
  'GET /credentials/{id_or_name}/totp-code': one('credential'),
  'POST /org/credential_providers': wide({ name: 'new', provider_type: 'onepassword', token: 'ops_new' }),
  'GET /org/credential_providers': own(),
  'GET /org/credential_providers/{id}': { kind: 'shared', of: 'credentialProvider' },
  'PATCH /org/credential_providers/{id}': wide({ enabled: true }, 'credentialProvider'),
  'DELETE /org/credential_providers/{id}': wide(undefined, 'credentialProvider'),
  'POST /org/credential_providers/{id}/test': wide(undefined, 'credentialProvider'),
  'GET /org/credential_providers/{id}/items': wide(undefined, 'credentialProvider'),
  'POST /profiles': own({ name: 'new profile' }),
  'GET /profiles': list('profile'),
  'GET /profiles/{id_or_name}': one('profile'),
  'PATCH /profiles/{id_or_name}': one('profile', { name: 'renamed' }),
  'DELETE /profiles/{id_or_name}': one('profile'),
  'GET /profiles/{id_or_name}/download': { kind: 'one', of: 'profile', wideOnly: true },
  'POST /profiles/{id_or_name}/upload': {
    kind: 'one',
    of: 'profile',
    wideOnly: true,
    body: { cookies: [], origins: [] },
  },
  'GET /extensions': list('extension'),
  'POST /extensions': own(),
  'GET /extensions/{id_or_name}/metadata': one('extension'),
  'GET /extensions/{id_or_name}': one('extension'),
  'DELETE /extensions/{id_or_name}': one('extension'),
  'GET /extensions/from_chrome_store': own(),
  'POST /proxies': own({ type: 'custom', config: { host: 'proxy.example', port: 8080 } }),
  'GET /proxies': list('proxy'),
  'GET /proxies/{id_or_name}': one('proxy'),
  'PATCH /proxies/{id_or_name}': one('proxy', { name: 'renamed' }),
  'DELETE /proxies/{id_or_name}': one('proxy'),
  'POST /proxies/{id_or_name}/check': one('proxy'),
  'GET /apps': list('deployment'),
  'GET /deployments': list('deployment'),
  'POST /deployments': own(),
  'GET /deployments/{id}': one('deployment'),
  'DELETE /deployments/{id}': one('deployment'),
  'GET /deployments/{id}/events': one('deployment'),
  'POST /invocations': own({ app_name: 'no such app', action_name: 'run' }),
  'GET /invocations': list('invocation'),
  'GET /invocations/{id}': one('invocation'),
  'PATCH /invocations/{id}': one('invocation', { status: 'failed' }),
  'GET /invocations/{id}/events': one('invocation'),
  'GET /invocations/{id}/browsers': one('invocation'),
  'DELETE /invocations/{id}/browsers': one('invocation'),
  'GET /org/projects': list('project'),
  'POST /org/projects': wide({ name: 'new' }),
  'GET /org/projects/{id_or_name}': one('project'),
  'PATCH /org/projects/{id_or_name}': { kind: 'one', of: 'project', wideOnly: true, body: { name: 'renamed' } },
  'DELETE /org/projects/{id_or_name}': { kind: 'one', of: 'project', wideOnly: true },
  'GET /org/entitlements': own(),
  'PATCH /org/entitlements': wide({}),
  'GET /org/limits': own(),
  'PATCH /org/limits': wide({}),
  'GET /org/projects/{id_or_name}/limits': one('project'),
  'PATCH /org/projects/{id_or_name}/limits': { kind: 'one', of: 'project', wideOnly: true, body: {} },
  'GET /audit-logs': { kind: 'own', query: DAYS },
  'GET /audit-logs/export/chunk': { kind: 'own', query: DAYS },
  'POST /audit-logs/export/destinations': wide({ type: 's3', format: 'jsonl.gz', bucket: 'bucket', ...BUCKET }),
  'GET /audit-logs/export/destinations': wide(),
  'GET /audit-logs/export/destinations/{id}': wide(undefined, 'exportDestination'),
  'PATCH /audit-logs/export/destinations/{id}': wide({ prefix: 'p' }, 'exportDestination'),
  'DELETE /audit-logs/export/destinations/{id}': wide(undefined, 'exportDestination'),
  'POST /audit-logs/export/destinations/{id}/test': wide(undefined, 'exportDestination'),
  'POST /webhooks': own({ url: 'https://new.example/hook' }),
  'GET /webhooks': list('webhook'),
  'GET /webhooks/{id}': one('webhook'),
  'PATCH /webhooks/{id}': one('webhook', { description: 'changed' }),
  'DELETE /webhooks/{id}': one('webhook'),
  'POST /webhooks/{id}/rotate_secret': one('webhook'),
  'POST /webhooks/{id}/test': one('webhook'),
  'GET /webhooks/{id}/deliveries': one('webhook'),
  'POST /webhooks/{id}/deliveries/{delivery_id}/redeliver': one('webhook'),
  'POST /code_sources': own({ type: 'twilio', secret: 'of the provider' }),
  'GET /code_sources': list('codeSource'),
  'DELETE /code_sources/{id}': one('codeSource'),
  'POST /code_sources/{id}/messages': PUBLIC,
  'GET /org/members': wide(),
  'GET /org/members/{id}': wide(undefined, 'member'),
  'PATCH /org/members/{id}': wide({ role: 'viewer' }, 'member'),
  'DELETE /org/members/{id}': wide(undefined, 'member'),
  'GET /org/invitations': wide(),
  'POST /org/invitations': wide({ email: 'new@example.com', role: 'viewer' }),
  'DELETE /org/invitations/{id}': wide(undefined, 'invitation'),
  'DELETE /session': session(204),
  'DELETE /session/account/passkeys/{id}': session(404),
  'GET /session': session(200),
  'GET /session/account/passkeys': session(200),
  'PATCH /session/account': session(200, { name: 'Somebody' }),
  'POST /session/account/passkeys': session(400, {
    name: 'Key',
    response: { ...PASSKEY, response: { clientDataJSON: 'x', attestationObject: 'x' } },
  }),
  'POST /session/account/passkeys/options': session(200),
  'POST /session/account/password/confirm': session(400, { code: '000000' }),
  'POST /session/account/password': session(200, { password: 'a password that is long enough' }),
  'POST /session/confirm': session(403, { password: 'of nobody' }),
  'POST /session/invitation': signIn(410, CODE),
  'POST /session/link': signIn(410, CODE),
  'GET /session/methods': PUBLIC,
  'GET /session/oidc': PUBLIC,
  'GET /session/oidc/callback': PUBLIC,
  'POST /session/oidc/confirm': session(404, { return_to: '/console' }),
  'POST /session/organization': session(200, { id: 'org_default' }),
  'POST /session/passkey': signIn(401, { ...PASSKEY, response: SIGNED }),
  'POST /session/passkey/options': signIn(200),
  'POST /session/password': signIn(401, { email: 'nobody@example.com', password: 'of nobody at all', code: '000000' }),
  'GET /oauth/grants': { kind: 'grants' },
  'DELETE /oauth/grants/{id}': { kind: 'grants', of: 'oauthGrant' },
};

/** Writes that require an owner. All others require an operator, except for a person's own grants. */
const OWNED =
  /^(POST|PATCH|DELETE) (\/org\/(api_keys|credential_providers|projects|entitlements|limits|members|invitations)|\/audit-logs\/export\/destinations)/;
/** Reads that require an operator, since they return secrets. All others require a viewer. */
const SECRET_READS = ['GET /credentials/{id_or_name}/totp-code', 'GET /profiles/{id_or_name}/download'];

/** Reads that return access to browsers. */
const OPENING = ['GET /invocations/{id}/browsers'];

/** The minimum role of a person. */
export function roleFor(route: string): Person {
  if (OWNED.test(route)) return 'owner';
  if (route.includes('/oauth/grants')) return 'viewer';
  return route.startsWith('GET ') && ![...SECRET_READS, ...OPENING].includes(route) ? 'viewer' : 'operator';
}

/** Operations for which a person must have confirmed their identity recently, and which no OAuth client may call. */
export const CONFIRMED: readonly string[] = [
  ...SECRET_READS,
  'PATCH /credentials/{id_or_name}',
  'POST /org/api_keys',
  'POST /org/api_keys/{id}/rotate',
  'POST /org/credential_providers',
  'PATCH /org/credential_providers/{id}',
  'POST /webhooks/{id}/rotate_secret',
];
