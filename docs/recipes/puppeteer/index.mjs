import Kernel from '@onkernel/sdk';
import puppeteer from 'puppeteer-core';

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

// 2. A browser on that profile is logged in.
const browser = await kernel.browsers.create({ profile: { name: 'recipes' }, headless: true });
try {
  const remote = await puppeteer.connect({ browserWSEndpoint: browser.cdp_ws_url, defaultViewport: null });
  const [page = await remote.newPage()] = await remote.pages();
  await page.goto(`${site}/account`);
  const heading = await page.$eval('h1', (element) => element.textContent ?? '');
  console.log(`Name: ${heading.replace('Hello, ', '')}`);
  await remote.disconnect();
} finally {
  await kernel.browsers.deleteByID(browser.session_id);
}
