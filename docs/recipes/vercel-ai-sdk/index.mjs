import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Kernel from '@onkernel/sdk';
import { generateText, isStepCount, tool } from 'ai';
import { chromium } from 'playwright-core';
import { z } from 'zod';

const { KERNEL_BASE_URL: baseURL = 'http://localhost:8080', SITE_URL: site = 'http://localhost:8081' } = process.env;
const { OPENAI_BASE_URL = 'https://api.openai.com/v1', OPENAI_API_KEY, OPENAI_MODEL = 'gpt-4.1-mini' } = process.env;
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

// 2. A model that reads pages in a browser on that profile, by one tool.
const browser = await kernel.browsers.create({ profile: { name: 'recipes' }, headless: true });
try {
  const remote = await chromium.connectOverCDP(browser.cdp_ws_url);
  const [context] = remote.contexts();
  const page = context.pages()[0] ?? (await context.newPage());
  const readPage = tool({
    description: 'Opens a page of the site as the person who is logged in, and answers its text.',
    inputSchema: z.object({ path: z.string().describe('path of the page, such as /account') }),
    execute: async ({ path }) => {
      const url = new URL(path, site);
      if (url.host !== place.domain) return 'Only pages of the site can be read.';
      await page.goto(url.href);
      return await page.innerText('body');
    },
  });
  const provider = createOpenAICompatible({ name: 'openai', baseURL: OPENAI_BASE_URL, apiKey: OPENAI_API_KEY });
  const { text } = await generateText({
    model: provider(OPENAI_MODEL),
    tools: { readPage },
    stopWhen: isStepCount(5),
    prompt: 'Whose account is this? Its page is /account. Answer in one sentence, with the full name.',
  });
  console.log(`Answer: ${text}`);
  await remote.close();
} finally {
  await kernel.browsers.deleteByID(browser.session_id);
}
