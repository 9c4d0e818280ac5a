import { Stagehand } from '@browserbasehq/stagehand';
import Kernel from '@onkernel/sdk';
import { z } from 'zod';

const { KERNEL_BASE_URL: baseURL = 'http://localhost:8080', SITE_URL: site = 'http://localhost:8081' } = process.env;
const { OPENAI_BASE_URL, OPENAI_API_KEY, OPENAI_MODEL = 'gpt-4.1-mini' } = process.env;
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

// 2. Stagehand, by a model that speaks the chat-completions protocol, in a browser on that profile.
const browser = await kernel.browsers.create({ profile: { name: 'recipes' }, headless: true });
const stagehand = new Stagehand({
  env: 'LOCAL',
  localBrowserLaunchOptions: { cdpUrl: browser.cdp_ws_url },
  model: {
    modelName: `openai/${OPENAI_MODEL}`,
    apiKey: OPENAI_API_KEY,
    ...(OPENAI_BASE_URL && { baseURL: OPENAI_BASE_URL }),
    openaiEndpointFormat: 'chat',
  },
  verbose: 0,
});
try {
  await stagehand.init();
  const [page] = stagehand.context.pages();
  await page.goto(`${site}/account`);
  const account = await stagehand.extract('the name of the person who is logged in', z.object({ name: z.string() }));
  console.log(`Name: ${account.name}`);
} finally {
  await stagehand.close();
  await kernel.browsers.deleteByID(browser.session_id);
}
