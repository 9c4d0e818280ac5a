import { createReadStream } from 'node:fs';
import { localBrowser, Stagehand } from '@browserbasehq/stagehand';
import Kernel from '@onkernel/sdk';
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

// 2. A browser on that profile, with the extension in which Stagehand runs.
const browser = await kernel.browsers.create({ profile: { name: 'recipes' }, headless: true });
try {
  const archive = new URL('assets/stagehand-extension.zip', import.meta.resolve('@browserbasehq/stagehand'));
  const extension = { name: 'stagehand', zip_file: createReadStream(archive) };
  await kernel.browsers.loadExtensions(browser.session_id, { extensions: [extension] });

  // 3. Stagehand in it. It opens the account by a link that the model picks, and reads the name there.
  const remote = await localBrowser.connect({ cdpUrl: browser.cdp_ws_url });
  const stagehand = await Stagehand.create({ browser: remote, model: { generate: ask }, logging: { level: 'off' } });
  const [page] = await remote.context.pages();
  await page.goto(site);
  await stagehand.act("click on the name of the person who is logged in, it is the page's first link");
  const { data } = await stagehand.extract('the name of the person who is greeted', z.object({ name: z.string() }));
  console.log(`Name: ${data.name}`);
  await stagehand.close();
  await remote.disconnect();
} finally {
  await kernel.browsers.deleteByID(browser.session_id);
}

/** Asks the model from here: by name, Stagehand would ask it out of the browser, with your key in there. */
async function ask({ systemPrompt, messages, responseFormat }) {
  const { name, schema } = responseFormat;
  const told = messages.map(({ role, content }) => ({
    role,
    content: [content]
      .flat()
      .map(({ text }) => text)
      .join('\n'),
  }));
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPENAI_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: OPENAI_MODEL,
      messages: [{ role: 'system', content: systemPrompt }, ...told],
      response_format: { type: 'json_schema', json_schema: { name, schema } },
    }),
  });
  if (!response.ok) throw new Error(`The model answers ${response.status}: ${await response.text()}`);
  const text = (await response.json()).choices[0].message.content;
  const content = { type: 'text', text };
  return { role: 'assistant', content, outputFormat: 'json_schema', structuredContent: JSON.parse(text) };
}
