import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { LoginResponse, ManagedAuth } from '../../contract/connections.ts';
import { describeConnection } from './connection-words.ts';
import { pathTo, type Operations } from './operations.ts';
import { answer } from './answer.ts';

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
