import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type CanReauthReason, LoginResponse, ManagedAuth } from '../../contract/connections.ts';
import { pathTo, queryOf, toolResult, type Operations } from './operations.ts';

type Reason = z.infer<typeof CanReauthReason>;

/** Why a connection can or cannot log in again unattended. */
const REAUTH_REASONS: Record<Reason, string> = {
  external_credential: 'logs in again unattended, with a credential from an external provider',
  cua_has_credential: 'logs in again unattended, with the stored credential',
  has_credential: 'logs in again unattended, with the stored credential',
  viable_plans_found: 'logs in again unattended, as it did before',
  no_requirements_recorded: 'logs in again unattended; the last login asked for nothing',
  requirements_satisfiable: 'logs in again unattended; everything the last login asked for is stored',
  no_prior_successful_login: 'cannot log in unattended until a person has logged in once',
  no_credential: 'cannot log in again unattended: no credential is stored',
  no_viable_plans: 'cannot log in again unattended: no recorded login plan still works',
  viable_plans_require_external_action: 'cannot log in again unattended: a person must act outside the page',
  requires_external_action: 'cannot log in again unattended: a person must act outside the page',
  requires_totp_without_secret:
    'cannot log in again unattended: it needs an authenticator code whose secret is not stored',
  requires_sms_code: 'cannot log in again unattended: it needs a code sent by SMS',
  requires_email_code: 'cannot log in again unattended: it needs a code sent by email',
  requires_customer_input: 'cannot log in again unattended: it needs input that only a person can give',
};

/** The state of a connection, in a sentence that tells an agent what to do. */
function describeConnection(connection: ManagedAuth): string {
  const state = connection.status === 'AUTHENTICATED' ? 'Logged in' : 'Not logged in';
  const flow = describeFlow(connection);
  if (flow !== null) return `${state}; ${flow}`;
  const reason = connection.can_reauth_reason;
  return reason === undefined ? state : `${state}; ${REAUTH_REASONS[reason]}`;
}

function describeFlow({ flow_status: status, flow_step: step, error_message: message }: ManagedAuth): string | null {
  if (status === 'FAILED') return `the last login failed: ${message ?? 'no reason was given'}`;
  if (status === 'EXPIRED') return 'the last login timed out; start another';
  if (status !== 'IN_PROGRESS') return null;
  if (step === 'AWAITING_INPUT') return 'a login is waiting for a person: give them hosted_url';
  if (step === 'AWAITING_EXTERNAL_ACTION') return 'a login is waiting for a person to confirm it elsewhere';
  return 'a login is in progress';
}

const Id = z.object({ connection_id: z.string().describe('From list_connections or create_connection') });
const Paging = {
  limit: z.int().min(1).max(100).optional().describe('Default 20'),
  offset: z.int().min(0).optional(),
};

const Profiles = z.array(
  z.object({ id: z.string(), name: z.string().nullable().optional(), last_used_at: z.string().nullable().optional() }),
);

/** Registers tools on connections and profiles. None accepts or returns a credential: people type those on the hosted page. */
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
      return toolResult({ connections: rows.map(summarize) });
    },
  );
  server.registerTool(
    'get_connection',
    {
      description:
        'Reads a connection: whether it is logged in, whether it can log in again unattended, and what is waiting for a person',
      inputSchema: Id,
      annotations: { readOnlyHint: true },
    },
    async ({ connection_id: id }) =>
      toolResult(presentConnection(await operations.json('GET', pathTo`/auth/connections/${id}`))),
  );
  server.registerTool(
    'create_connection',
    {
      description:
        'Creates a connection, and its profile if none has that name. It is not logged in yet: call start_login next',
      inputSchema: z.object({
        domain: z.string().describe('Such as example.com'),
        profile_name: z.string(),
        login_url: z.string().optional().describe('URL of the login form, if known'),
        allowed_domains: z.array(z.string()).optional().describe('Other domains that the login may pass through'),
        credential_name: z.string().optional().describe('Name of a stored credential'),
        save_credentials: z.boolean().optional().describe('Save what the person types, to log in again unattended'),
      }),
    },
    async ({ credential_name: name, ...settings }) => {
      const credential = name === undefined ? {} : { credential: { name } };
      return toolResult(
        presentConnection(await operations.json('POST', '/auth/connections', { ...settings, ...credential })),
      );
    },
  );
  server.registerTool(
    'start_login',
    {
      description:
        'Starts a login and returns hosted_url: give it to the person who knows the password. Never ask anyone for passwords or codes yourself. Then poll get_connection until it is logged in',
      inputSchema: Id,
    },
    async ({ connection_id: id }) => {
      const { flow_id, hosted_url, flow_expires_at } = LoginResponse.parse(
        await operations.json('POST', pathTo`/auth/connections/${id}/login`),
      );
      return toolResult({ flow_id, hosted_url, flow_expires_at });
    },
  );
  server.registerTool(
    'check_connection',
    {
      description: 'Checks now whether the profile is still logged in on the site. May take a minute',
      inputSchema: Id,
    },
    async ({ connection_id: id }) =>
      toolResult(presentConnection(await operations.json('POST', pathTo`/auth/connections/${id}/check`))),
  );
  server.registerTool(
    'list_profiles',
    {
      description: 'Lists profiles: a browser opened with one is logged in as that profile',
      inputSchema: z.object({ query: z.string().optional().describe('Part of the name'), ...Paging }),
      annotations: { readOnlyHint: true },
    },
    async (filter) => {
      const profiles = Profiles.parse(await operations.json('GET', `/profiles${queryOf(filter)}`));
      return toolResult({ profiles });
    },
  );
}

function summarize(connection: ManagedAuth) {
  const { id, profile_name, domain, status } = connection;
  return { id, profile_name, domain, status, says: describeConnection(connection) };
}

function presentConnection(document: unknown) {
  const connection = ManagedAuth.parse(document);
  const isInProgress = connection.flow_status === 'IN_PROGRESS';
  return {
    ...summarize(connection),
    can_reauth: connection.can_reauth,
    can_reauth_reason: connection.can_reauth_reason,
    last_auth_at: connection.last_auth_at,
    last_auth_check_at: connection.last_auth_check_at,
    flow_status: connection.flow_status,
    flow_step: connection.flow_step,
    error_code: connection.error_code,
    error_message: connection.error_message,
    ...(isInProgress && {
      flow_expires_at: connection.flow_expires_at,
      hosted_url: connection.hosted_url,
      asks_for: connection.fields?.map(({ label, type }) => label ?? type),
      offers: connection.choices?.map(({ label }) => label),
      external_action: connection.external_action_message,
    }),
  };
}
