import type { ApiServer } from '../context.ts';
import { issuerOf, RESOURCE_METADATA_PATH } from '../oauth/addresses.ts';
import type { ApiParts } from '../parts.ts';
import { registerBrowserTools } from './browser-tools.ts';
import { registerConnectionTools } from './connection-tools.ts';
import { createOperations } from './operations.ts';

const INSTRUCTIONS = `Holdfast keeps browser profiles logged in. To use a site: find or create a connection; if it is not logged in, start_login and
give hosted_url to a person; once it is logged in, open_browser with its profile. You never see or type a password or a code.`;

/**
 * `POST /mcp`: Model Context Protocol tools over streamable HTTP, without sessions, so any API process can serve any request. Each
 * tool calls public operations as the sender of the request.
 */
export function registerMcp(app: ApiServer, { settings }: ApiParts): void {
  const metadata = `${issuerOf(settings.publicUrl)}${RESOURCE_METADATA_PATH}/mcp`;
  app.route({
    method: 'POST',
    url: '/mcp',
    // The operations that tools call check the role themselves.
    config: { role: 'viewer' },
    schema: { hide: true },
    onSend: (_request, reply, _payload, done) => {
      // Tells clients without a token how to get one.
      if (reply.statusCode === 401) void reply.header('www-authenticate', `Bearer resource_metadata="${metadata}"`);
      done();
    },
    handler: async (request, reply) => {
      // Loaded on first use.
      const { createMcpHandler, McpServer } = await import('@modelcontextprotocol/server');
      const operations = createOperations(app, request);
      const handler = createMcpHandler(() => {
        const server = new McpServer({ name: 'holdfast', version: '0.1.0' }, { instructions: INSTRUCTIONS });
        registerConnectionTools(server, operations);
        registerBrowserTools(server, operations);
        return server;
      });
      reply.raw.once('close', () => void handler.close());
      return reply.send(await handler.fetch(asWebRequest(request), { parsedBody: request.body }));
    },
  });
}

/** The request as the SDK expects it: method and headers. The body is passed separately, already parsed. */
function asWebRequest(request: { headers: Record<string, string | string[] | undefined> }): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers });
}
