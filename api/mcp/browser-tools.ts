import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { Browser } from '../../contract/browsers.ts';
import { PlaywrightResult } from '../../contract/playwright.ts';
import { answer } from './operations.ts';
import { queryOf } from './connection-tools.ts';
import { OperationError, pathTo, type Operations } from './operations.ts';

/** How long a browser that no tool uses stays open, in seconds: an agent thinks for a while between two steps. */
const IDLE_SECONDS = 600;
/** Longest text of a page that a tool answers, in characters. */
const MAX_TEXT = 20_000;
/**
 * What a page says, for an agent: no value of a field and no cookie, which may be secret. Runs in the session's sandbox.
 */
const READ_PAGE = `return {
  url: page.url(),
  title: await page.title(),
  text: (await page.evaluate(() => document.body?.innerText ?? '')).slice(0, ${MAX_TEXT}),
};`;

const SessionId = z.string().describe('From open_browser or list_browsers');
const Page = z.object({ url: z.string(), title: z.string(), text: z.string() });
/** The addresses in a session's answer carry its token: no tool shows them. */
const Session = Browser.pick({ session_id: true, created_at: true, headless: true, timeout_seconds: true }).extend({
  profile: z.object({ name: z.string().nullable() }).optional(),
  viewport: z.object({ width: z.int(), height: z.int() }),
});

/**
 * Tools on browser sessions. The addresses of a session (CDP, live view) hold tokens, so an agent gets tools in their place: open
 * a page, read it, look at it, click, type, press keys, scroll.
 */
export function registerBrowserTools(server: McpServer, operations: Operations): void {
  server.registerTool(
    'open_browser',
    {
      description: `Opens a browser that is logged in as the profile is. It closes after ${IDLE_SECONDS / 60} minutes without use; close it when done`,
      inputSchema: z.object({
        profile_name: z.string(),
        url: z.string().optional().describe('Page to open'),
        save_changes: z.boolean().optional().describe('Keep what changes in the profile. Default false'),
      }),
    },
    async ({ profile_name: name, url, save_changes }) => {
      const body = {
        profile: { name, ...(save_changes === undefined ? {} : { save_changes }) },
        headless: true,
        timeout_seconds: IDLE_SECONDS,
        viewport: { width: 1280, height: 800 },
        ...(url === undefined ? {} : { start_url: url }),
      };
      return answer(shown(await operations.json('POST', '/browsers', body)));
    },
  );
  server.registerTool(
    'list_browsers',
    {
      description: 'Lists the browsers that are open',
      inputSchema: z.object({ limit: z.int().min(1).max(100).optional(), offset: z.int().min(0).optional() }),
      annotations: { readOnlyHint: true },
    },
    async (page) => {
      const rows = z.array(z.unknown()).parse(await operations.json('GET', `/browsers${queryOf(page)}`));
      return answer({ browsers: rows.map(shown) });
    },
  );
  server.registerTool(
    'close_browser',
    { description: 'Closes a browser', inputSchema: z.object({ session_id: SessionId }) },
    async ({ session_id: id }) => {
      await operations.json('DELETE', pathTo`/browsers/${id}`);
      return answer({ closed: id });
    },
  );
  server.registerTool(
    'open_page',
    {
      description: 'Opens an address in the browser. Answers before the page has loaded: read_page waits for it',
      inputSchema: z.object({ session_id: SessionId, url: z.string() }),
    },
    async ({ session_id: id, url }) => {
      await operations.json('PATCH', pathTo`/browsers/${id}`, { start_url: url });
      return answer({ opening: url });
    },
  );
  server.registerTool(
    'read_page',
    {
      description: `Reads address, title and text (at most ${MAX_TEXT} characters) of the page`,
      inputSchema: z.object({ session_id: SessionId }),
      annotations: { readOnlyHint: true },
    },
    async ({ session_id: id }) => {
      const run = await operations.json('POST', pathTo`/browsers/${id}/playwright/execute`, { code: READ_PAGE });
      const { success, result, error } = PlaywrightResult.parse(run);
      if (!success) throw new OperationError(`The page could not be read: ${error ?? 'try again'}`);
      return answer(Page.parse(result));
    },
  );
  server.registerTool(
    'take_screenshot',
    {
      description: 'Shows the page as a picture. Its pixels are the coordinates of click and scroll',
      inputSchema: z.object({ session_id: SessionId }),
      annotations: { readOnlyHint: true },
    },
    async ({ session_id: id }) => {
      const png = await operations.bytes('POST', pathTo`/browsers/${id}/computer/screenshot`);
      return { content: [{ type: 'image', mimeType: 'image/png', data: png.toString('base64') }] };
    },
  );
  registerInputTools(server, operations);
}

function registerInputTools(server: McpServer, operations: Operations): void {
  const point = { x: z.number(), y: z.number() };
  server.registerTool(
    'click',
    {
      description: 'Clicks',
      inputSchema: z.object({ session_id: SessionId, ...point, num_clicks: z.int().optional() }),
    },
    async ({ session_id: id, ...click }) => {
      await operations.json('POST', pathTo`/browsers/${id}/computer/click_mouse`, click);
      return answer({ clicked: true });
    },
  );
  server.registerTool(
    'type_text',
    {
      description: 'Types text where the focus is. Not for passwords and codes: start_login has a person type those',
      inputSchema: z.object({ session_id: SessionId, text: z.string() }),
    },
    async ({ session_id: id, text }) => {
      await operations.json('POST', pathTo`/browsers/${id}/computer/type`, { text });
      return answer({ typed: true });
    },
  );
  server.registerTool(
    'press_key',
    {
      description: 'Presses keys, one after another',
      inputSchema: z.object({ session_id: SessionId, keys: z.array(z.string()).describe('Such as Return or Ctrl+a') }),
    },
    async ({ session_id: id, keys }) => {
      await operations.json('POST', pathTo`/browsers/${id}/computer/press_key`, { keys });
      return answer({ pressed: true });
    },
  );
  server.registerTool(
    'scroll',
    {
      description: 'Turns the wheel at a point, by notches; positive ones go right and down',
      inputSchema: z.object({
        session_id: SessionId,
        ...point,
        delta_x: z.number().optional(),
        delta_y: z.number().optional(),
      }),
    },
    async ({ session_id: id, ...turn }) => {
      await operations.json('POST', pathTo`/browsers/${id}/computer/scroll`, turn);
      return answer({ scrolled: true });
    },
  );
}

function shown(session: unknown) {
  const { profile, ...rest } = Session.parse(session);
  return { ...rest, profile_name: profile?.name ?? null };
}
