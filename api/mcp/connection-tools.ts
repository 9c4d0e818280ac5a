import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type CanReauthReason, LoginResponse, ManagedAuth } from '../../contract/connections.ts';
import { type Operations, answer, pathTo } from './operations.ts';

type Reason = z.infer<typeof CanReauthReason>;

/** Why Holdfast can, or cannot, log in again without a person. */
const GATE: Record<Reason, string> = {
  external_credential: 'logs in again by itself, with a credential of an external provider',
  cua_has_credential: 'logs in again by itself, with the stored credential',
  has_credential: 'logs in again by itself, with the stored credential',
  viable_plans_found: 'logs in again by itself, as it did before',
  no_requirements_recorded: 'logs in again by itself; nothing was asked for the last time',
  requirements_satisfiable: 'logs in again by itself; it has all that was asked for the last time',
  no_prior_successful_login: 'cannot log in by itself before a person has logged in once',
  no_credential: 'cannot log in again by itself: no credential is stored',
  no_viable_plans: 'cannot log in again by itself: no recorded way in is left',
  viable_plans_require_external_action: 'cannot log in again by itself: a person must act outside the page',
  requires_external_action: 'cannot log in again by itself: a person must act outside the page',
  requires_totp_without_secret:
    'cannot log in again by itself: it needs codes of an authenticator app whose secret is not stored',
  requires_sms_code: 'cannot log in again by itself: it needs a code by SMS',
  requires_email_code: 'cannot log in again by itself: it needs a code by e-mail',
  requires_customer_input: 'cannot log in again by itself: it needs something that only a person can answer',
};

/** How a connection does, in a sentence for an agent to act on. */
export function describeConnection(connection: ManagedAuth): string {
  const state = connection.status === 'AUTHENTICATED' ? 'Logged in' : 'Not logged in';
  const flow = flowInWords(connection);
  if (flow !== null) return `${state}; ${flow}`;
  const reason = connection.can_reauth_reason;
  return reason === undefined ? state : `${state}; ${GATE[reason]}`;
}

function flowInWords({ flow_status: status, flow_step: step, error_message: message }: ManagedAuth): string | null {
  if (status === 'FAILED') return `the last login failed: ${message ?? 'no reason was given'}`;
  if (status === 'EXPIRED') return 'the last login ran out of time; start another';
  if (status !== 'IN_PROGRESS') return null;
  if (step === 'AWAITING_INPUT') return 'a login waits for a person: hand hosted_url to them';
  if (step === 'AWAITING_EXTERNAL_ACTION') return 'a login waits until a person has confirmed it elsewhere';
  return 'a login is under way';
}

const Id = z.object({ connection_id: z.string().describe('From list_connections or create_connection') });
const Paging = {
  limit: z.int().min(1).max(100).optional().describe('Default 20'),
  offset: z.int().min(0).optional(),
};

const Profiles = z.array(
  z.object({ id: z.string(), name: z.string().nullable().optional(), last_used_at: z.string().nullable().optional() }),
);

/** Tools on connections and profiles. None takes or answers a credential: a person types those on the hosted page. */
export function registerConnectionTools(server: McpServer, operations: Operations): void {
  server.registerTool(
    'list_connections',
    {
      description: 'Lists connections, newest first: each keeps one profile logged in on one site',
      inputSchema: z.object({
        profile_name: z.string().optional(),
        domain: z.string().optional(),
        query: z.string().optional().describe('Part of the domain or of the profile name'),
        ...Paging,
      }),
      annotations: { readOnlyHint: true },
    },
    async (filter) => {
      const rows = z.array(ManagedAuth).parse(await operations.json('GET', `/auth/connections${queryOf(filter)}`));
      return answer({ connections: rows.map(shortly) });
    },
  );
  server.registerTool(
    'get_connection',
    {
      description:
        'Reads a connection: whether it is logged in, whether it logs in again by itself, and what waits for a person',
      inputSchema: Id,
      annotations: { readOnlyHint: true },
    },
    async ({ connection_id: id }) => answer(fully(await operations.json('GET', pathTo`/auth/connections/${id}`))),
  );
  server.registerTool(
    'create_connection',
    {
      description:
        'Creates a connection, and its profile if there is none of that name. It is not logged in yet: call start_login next',
      inputSchema: z.object({
        domain: z.string().describe('Such as example.com'),
        profile_name: z.string(),
        login_url: z.string().optional().describe('Where the login form is, if it is known'),
        allowed_domains: z.array(z.string()).optional().describe('Other domains that the login may lead over'),
        credential_name: z.string().optional().describe('Name of a credential that is stored already'),
        save_credentials: z.boolean().optional().describe('Keep what the person types, to log in again by itself'),
      }),
    },
    async ({ credential_name: name, ...settings }) => {
      const credential = name === undefined ? {} : { credential: { name } };
      return answer(fully(await operations.json('POST', '/auth/connections', { ...settings, ...credential })));
    },
  );
  server.registerTool(
    'start_login',
    {
      description:
        'Starts a login and answers hosted_url: hand it to the person who knows the password. Never ask anybody for passwords or codes yourself. Then read get_connection until it is logged in',
      inputSchema: Id,
    },
    async ({ connection_id: id }) => {
      const { flow_id, hosted_url, flow_expires_at } = LoginResponse.parse(
        await operations.json('POST', pathTo`/auth/connections/${id}/login`),
      );
      return answer({ flow_id, hosted_url, flow_expires_at });
    },
  );
  server.registerTool(
    'check_connection',
    {
      description: 'Looks at the site now, to see whether the profile is still logged in there. May take a minute',
      inputSchema: Id,
    },
    async ({ connection_id: id }) =>
      answer(fully(await operations.json('POST', pathTo`/auth/connections/${id}/check`))),
  );
  server.registerTool(
    'list_profiles',
    {
      description: 'Lists profiles: what a browser is opened on to be logged in',
      inputSchema: z.object({ query: z.string().optional().describe('Part of the name'), ...Paging }),
      annotations: { readOnlyHint: true },
    },
    async (filter) => {
      const profiles = Profiles.parse(await operations.json('GET', `/profiles${queryOf(filter)}`));
      return answer({ profiles });
    },
  );
}

/** The query of a list; empty where nothing is asked for. */
export function queryOf(filter: Record<string, string | number | undefined>): string {
  const given = Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

function shortly(connection: ManagedAuth) {
  const { id, profile_name, domain, status } = connection;
  return { id, profile_name, domain, status, says: describeConnection(connection) };
}

function fully(document: unknown) {
  const connection = ManagedAuth.parse(document);
  const waits = connection.flow_status === 'IN_PROGRESS';
  return {
    ...shortly(connection),
    can_reauth: connection.can_reauth,
    can_reauth_reason: connection.can_reauth_reason,
    last_auth_at: connection.last_auth_at,
    last_auth_check_at: connection.last_auth_check_at,
    flow_status: connection.flow_status,
    flow_step: connection.flow_step,
    error_code: connection.error_code,
    error_message: connection.error_message,
    ...(waits && {
      flow_expires_at: connection.flow_expires_at,
      hosted_url: connection.hosted_url,
      asks_for: connection.fields?.map(({ label, type }) => label ?? type),
      offers: connection.choices?.map(({ label }) => label),
      external_action: connection.external_action_message,
    }),
  };
}
