import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningApi } from '../../../api/service.ts';
import { useService } from '../service-fixture.ts';
import { PersonsBrowser, signedIn, startAtPublicUrl } from './person.ts';

const fixture = useService();
let api: RunningApi;
beforeAll(async () => {
  api = await startAtPublicUrl(fixture());
});
afterAll(() => api.close());

/** The part of a client that keeps what it was given; its person is sent to `opened`. */
function createMemory(opened: (url: URL) => void): OAuthClientProvider {
  const kept: {
    client?: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;
    tokens?: object;
    verifier: string;
  } = {
    verifier: '',
  };
  let tokens: Awaited<ReturnType<OAuthClientProvider['tokens']>>;
  const redirectUrl = 'http://localhost:3998/callback';
  return {
    redirectUrl,
    clientMetadata: { client_name: 'Agent', redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => {
      kept.client = client;
    },
    tokens: () => tokens,
    saveTokens: (saved) => {
      tokens = saved;
    },
    redirectToAuthorization: opened,
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier,
  };
}

it('lets an MCP client discover it and act for a person', async () => {
  const ann = await signedIn(fixture(), 'ann@example.com', 'operator');
  const opened: URL[] = [];
  const authProvider = createMemory((url) => opened.push(url));
  const connect = async () => {
    const transport = new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { authProvider });
    const client = new Client({ name: 'agent', version: '1.0.0' });
    return { transport, connected: client.connect(transport).then(() => client) };
  };
  const { transport, connected } = await connect();
  await expect(connected).rejects.toBeInstanceOf(UnauthorizedError);
  const told = await new PersonsBrowser(ann.cookie).answer(opened[0] ?? '');
  await transport.finishAuth(told.searchParams);

  const client = await (await connect()).connected;
  const made = await client.callTool({
    name: 'create_connection',
    arguments: { domain: 'shop.example', profile_name: 'ann' },
  });
  expect(made.isError ?? false).toBe(false);
  expect(made.structuredContent).toMatchObject({ domain: 'shop.example', status: 'NEEDS_AUTH' });
  await client.close();
});
