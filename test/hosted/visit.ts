import Fastify, { type FastifyInstance } from 'fastify';
import { type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { hostedPage } from '../../api/hosted/plugin.ts';
import { answerErrors } from '../../http/errors.ts';
import { createScriptedFlow, type ScriptedFlow } from './scripted-flow.ts';

/** A phone as people hold it. */
export const PHONE = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  hasTouch: true,
  isMobile: true,
} as const;
export const NARROW = {
  viewport: { width: 320, height: 640 },
  deviceScaleFactor: 2,
  hasTouch: true,
  isMobile: true,
} as const;
export const DESKTOP = { viewport: { width: 1280, height: 860 } } as const;

/** The page's server with a flow that the test drives. */
export interface Site {
  url: string;
  flow: ScriptedFlow;
  app: FastifyInstance;
  /** `hosted_url` with a fresh code and what the caller adds. */
  link(params?: Record<string, string>): string;
  close(): Promise<void>;
}

export async function serve(id = 'conn1'): Promise<Site> {
  let url = 'http://localhost';
  const app = Fastify();
  answerErrors(app, { error: () => undefined });
  const flow = createScriptedFlow(() => url, id);
  await app.register(hostedPage, flow.deps);
  // Where success_url and error_url lead: a site of the caller's.
  app.get('/app/*', async (_request, reply) => reply.type('text/html').send('<title>The app</title><h1>The app</h1>'));
  await app.listen({ port: 0, host: '127.0.0.1' });
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  url = `http://127.0.0.1:${address.port}`;
  return {
    url,
    flow,
    app,
    link: (params = {}) => `${url}/login/${id}?${new URLSearchParams({ code: flow.code(), ...params }).toString()}`,
    close: async () => {
      await app.close();
    },
  };
}

/** A person at a browser of their own. Violations of the policy and faults of the script are kept. */
export interface Visitor {
  context: BrowserContext;
  page: Page;
  /** Messages of the console and CSP violations; has to stay empty. */
  complaints: string[];
}

export async function visit(browser: Browser, options: BrowserContextOptions = {}): Promise<Visitor> {
  const context = await browser.newContext({ locale: 'en-US', reducedMotion: 'no-preference', ...options });
  // Only a hang takes it, even on a machine that stands still for a while.
  context.setDefaultTimeout(180_000);
  const page = await context.newPage();
  const complaints = listen(page);
  return { context, page, complaints };
}

/** Collects what a page complains of. Answers of 4xx are expected here and shown to the person, so they do not count. */
export function listen(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`pageerror: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if (/Failed to load resource/.test(message.text())) return;
    complaints.push(`console: ${message.text()}`);
  });
  return complaints;
}
