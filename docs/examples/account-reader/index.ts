import Kernel, { type KernelContext } from '@onkernel/sdk';

/**
 * Logs a profile in once (`login`), and reads what only its owner sees (`read`), as often as somebody invokes it: each hour, by
 * cron. Logging in again, when the site has ended the session, is the connection's own business.
 *
 * Deploy it with `env_vars` SITE (host of the site), LOGIN_URL, USERNAME and PASSWORD.
 */
const kernel = new Kernel();
const app = kernel.app('account-reader');

const PROFILE = 'account-reader';
const POLL_MS = 250;

interface Read {
  /** Page to read. */
  url: string;
  /** CSS selector of what is read. */
  selector: string;
}

app.action('login', async (_context: KernelContext): Promise<{ status: string }> => {
  const { SITE = '', LOGIN_URL = '', USERNAME = '', PASSWORD = '' } = process.env;
  const [existing] = (await kernel.auth.connections.list({ profile_name: PROFILE, domain: SITE })).items;
  if (existing?.status === 'AUTHENTICATED') return { status: existing.status };
  const credential = { name: PROFILE };
  if (existing === undefined) {
    const values = { username: USERNAME, password: PASSWORD };
    await kernel.credentials.create({ ...credential, domain: SITE, values });
  }
  const { id } =
    existing ??
    (await kernel.auth.connections.create({ domain: SITE, profile_name: PROFILE, login_url: LOGIN_URL, credential }));
  await kernel.auth.connections.login(id);
  for (;;) {
    const { status, flow_status, error_message } = await kernel.auth.connections.retrieve(id);
    if (flow_status === 'SUCCESS') return { status };
    if (flow_status !== 'IN_PROGRESS') throw new Error(`The login ended: ${error_message ?? flow_status ?? 'no flow'}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
});

app.action('read', async (context: KernelContext, payload?: Read): Promise<{ text: string }> => {
  if (payload === undefined) throw new Error('Send `url` and `selector`');
  const { session_id: session } = await kernel.browsers.create({
    profile: { name: PROFILE },
    headless: true,
    invocation_id: context.invocation_id,
  });
  const code = `
    await page.goto(${JSON.stringify(payload.url)});
    return await page.locator(${JSON.stringify(payload.selector)}).first().innerText();`;
  const { success, result, error } = await kernel.browsers.playwright.execute(session, { code });
  if (!success) throw new Error(error ?? 'the page cannot be read');
  return { text: String(result) };
});
