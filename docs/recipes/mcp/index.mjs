import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import Kernel from '@onkernel/sdk';

const { KERNEL_BASE_URL: baseURL = 'http://localhost:8080', SITE_URL: site = 'http://localhost:8081' } = process.env;
const kernel = new Kernel({ baseURL });

// 1. A connection keeps the profile logged in on the site. A person logs in once.
const place = { profile_name: 'recipes', domain: new URL(site).host };
const [existing] = (await kernel.auth.connections.list(place)).items;
const connection = existing ?? (await kernel.auth.connections.create({ ...place, login_url: `${site}/login` }));
if (connection.status !== 'AUTHENTICATED') {
  const { hosted_url } = await kernel.auth.connections.login(connection.id);
  console.log(`Log in on ${hosted_url}`);
  for await (const event of await kernel.auth.connections.follow(connection.id))
    if (event.event === 'managed_auth_state') console.log(`${event.flow_status} ${event.flow_step}`);
  const { status } = await kernel.auth.connections.retrieve(connection.id);
  if (status !== 'AUTHENTICATED') throw new Error('Nobody logged in');
}

// 2. The Playwright MCP server on a browser of that profile. The address holds a token: the environment keeps it out of `ps`.
const browser = await kernel.browsers.create({ profile: { name: 'recipes' }, headless: true });
const client = new Client({ name: 'recipe', version: '1.0.0' });
try {
  await client.connect(
    new StdioClientTransport({
      command: 'npx',
      args: ['playwright-mcp'],
      env: { PLAYWRIGHT_MCP_CDP_ENDPOINT: browser.cdp_ws_url },
    }),
  );
  const { tools } = await client.listTools();
  console.log(`Tools: ${tools.length}`);
  await client.callTool({ name: 'browser_navigate', arguments: { url: `${site}/account` } });
  const snapshot = await client.callTool({ name: 'browser_snapshot', arguments: {} });
  const text = snapshot.content.map((part) => part.text ?? '').join('\n');
  console.log(`Name: ${/Hello, ([\w ]+)/.exec(text)?.[1]}`);
} finally {
  await client.close();
  await kernel.browsers.deleteByID(browser.session_id);
}
