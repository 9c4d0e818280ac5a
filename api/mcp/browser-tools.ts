import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { Browser } from '../../contract/browsers.ts';
import { PlaywrightResult } from '../../contract/playwright.ts';
import { OperationError, pathTo, queryOf, toolResult, type Operations } from './operations.ts';

/** How long an unused browser stays open, in seconds: agents may think for a while between steps. */
const IDLE_SECONDS = 600;
/** Maximum page text that a tool returns, in characters. */
const MAX_TEXT = 20_000;
/** Reads a page without field values and cookies, which may be secret. Runs in the session's sandbox. */
const READ_PAGE = `return {
  url: page.url(),
  title: await page.title(),
  text: (await page.evaluate(() => document.body?.innerText ?? '')).slice(0, ${MAX_TEXT}),
};`;

const SessionId = z.string().describe('From open_browser or list_browsers');
const Page = z.object({ url: z.string(), title: z.string(), text: z.string() });
/** The URLs of a session contain its token, so no tool returns them. */
const Session = Browser.pick({ session_id: true, created_at: true, headless: true, timeout_seconds: true }).extend({
  profile: z.object({ name: z.string().nullable() }).optional(),
  viewport: z.object({ width: z.int(), height: z.int() }),
});

/**
 * Registers tools on browser sessions. The URLs of a session (CDP, live view) contain tokens, so agents get tools instead: open a
 * page, read it, take a screenshot, click, type, press keys, scroll.
 */
export function registerBrowserTools(server: McpServer, operations: Operations): void {
  server.registerTool(
    'open_browser',
    {
      description: `Opens a browser that is logged in as the profile. It closes after ${IDLE_SECONDS / 60} minutes without use; close it when done`,
      inputSchema: z.object({
        profile_name: z.string(),
        url: z.string().optional().describe('Page to open'),
        save_changes: z.boolean().optional().describe('Save changes to the profile. Default false'),
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
      return toolResult(presentSession(await operations.json('POST', '/browsers', body)));
    },
  );
  server.registerTool(
    'list_browsers',
    {
      description: 'Lists the open browsers',
      inputSchema: z.object({ limit: z.int().min(1).max(100).optional(), offset: z.int().min(0).optional() }),
      annotations: { readOnlyHint: true },
    },
    async (page) => {
      const rows = z.array(z.unknown()).parse(await operations.json('GET', `/browsers${queryOf(page)}`));
      return toolResult({ browsers: rows.map(presentSession) });
    },
  );
  server.registerTool(
    'close_browser',
    { description: 'Closes a browser', inputSchema: z.object({ session_id: SessionId }) },
    async ({ session_id: id }) => {
      await operations.json('DELETE', pathTo`/browsers/${id}`);
      return toolResult({ closed: id });
    },
  );
  server.registerTool(
    'open_page',
    {
      description: 'Opens a URL in the browser. Returns before the page has loaded: read_page waits for it',
      inputSchema: z.object({ session_id: SessionId, url: z.string() }),
    },
    async ({ session_id: id, url }) => {
      await operations.json('PATCH', pathTo`/browsers/${id}`, { start_url: url });
      return toolResult({ opening: url });
    },
  );
  server.registerTool(
    'read_page',
    {
      description: `Reads the URL, title and text (at most ${MAX_TEXT} characters) of the page`,
      inputSchema: z.object({ session_id: SessionId }),
      annotations: { readOnlyHint: true },
    },
    async ({ session_id: id }) => {
      const run = await operations.json('POST', pathTo`/browsers/${id}/playwright/execute`, { code: READ_PAGE });
      const { success, result, error } = PlaywrightResult.parse(run);
      if (!success) throw new OperationError(`The page could not be read: ${error ?? 'try again'}`);
      return toolResult(Page.parse(result));
    },
  );
  server.registerTool(
    'take_screenshot',
    {
      description: 'Takes a screenshot of the page. Its pixels are the coordinates of click and scroll',
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
  const registerInputTool = (
    name: string,
    {
      description,
      endpoint,
      input,
      result,
    }: { description: string; endpoint: string; input: z.ZodObject; result: string },
  ) =>
    server.registerTool(
      name,
      { description, inputSchema: z.object({ session_id: SessionId, ...input.shape }) },
      async ({ session_id: id, ...body }) => {
        await operations.json('POST', pathTo`/browsers/${id}/computer/${endpoint}`, body);
        return toolResult({ [result]: true });
      },
    );
  const point = { x: z.number(), y: z.number() };
  registerInputTool('click', {
    description: 'Clicks at a point',
    endpoint: 'click_mouse',
    input: z.object({ ...point, num_clicks: z.int().optional() }),
    result: 'clicked',
  });
  registerInputTool('type_text', {
    description:
      'Types text into the focused element. Not for passwords and codes: start_login has a person type those',
    endpoint: 'type',
    input: z.object({ text: z.string() }),
    result: 'typed',
  });
  registerInputTool('press_key', {
    description: 'Presses keys, one after another',
    endpoint: 'press_key',
    input: z.object({ keys: z.array(z.string()).describe('Such as Return or Ctrl+a') }),
    result: 'pressed',
  });
  registerInputTool('scroll', {
    description: 'Scrolls at a point, in wheel notches; positive is right and down',
    endpoint: 'scroll',
    input: z.object({ ...point, delta_x: z.number().optional(), delta_y: z.number().optional() }),
    result: 'scrolled',
  });
}

function presentSession(session: unknown) {
  const { profile, ...rest } = Session.parse(session);
  return { ...rest, profile_name: profile?.name ?? null };
}
