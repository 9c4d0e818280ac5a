import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApplicationFailure } from '@temporalio/common';
import type { Page } from 'playwright-core';
import { enterAnswer } from '../../activities/login/entering/enter-answer.ts';
import type { LoginDeps } from '../../activities/login/deps.ts';
import { createPages } from '../../activities/login/session/pages.ts';
import { createPasskeys } from '../../activities/login/credentials/passkeys.ts';
import { readLogin } from '../../activities/login/reading/read-login.ts';
import { createBrowserService } from '../../browser-client/service.ts';
import type { Answer, EnterOutcome, LoginTarget } from '../../contract/activities.ts';
import { MANAGED_AUTH_HEADER } from '../../contract/browsers.ts';
import type { PageReading } from '../../contract/reading.ts';
import { createExternalCredentials } from '../../credential-providers/external-credentials.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import type { Store } from '../../store/store.ts';
import { API_KEY, startSite, type ServiceUnderTest, type Site } from '../browser/service-under-test.ts';
import { addConnection } from '../store/databases.ts';
import { loginTarget } from './login-fixtures.ts';

export const PASSWORD = 'Zq7#kVx2!mWp9';
/** {@link PASSWORD} in an application/x-www-form-urlencoded body. */
export const PASSWORD_IN_FORM = encodeURIComponent(PASSWORD).replace('!', '%21');
export const CODE = '918273';
/** The same server under another host, which is another site. Pages replace `{port}`. */
export const OTHER_SITE = 'http://127.0.0.1:{port}';

/** A script that posts every key and input event of its page to `/keys`. */
export const KEY_LOGGER = (at: string): string => `<script>
  for (const type of ['keydown', 'keypress', 'beforeinput'])
    addEventListener(type, (event) => fetch('/keys', { method: 'POST', body: '${at} ' + (event.data ?? event.key) }), true);
</script>`;
export const FORM = (more = ''): string =>
  `<h1>Sign in</h1><form action="/in" method="post"><label>User <input name="user" id="user"></label>
   <label>Password <input type="password" name="pass" id="pass"></label><button>Sign in</button></form>${more}`;

const PROJECT = { headers: { 'x-kernel-project-id': 'p', [MANAGED_AUTH_HEADER]: 'true' } };

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;
type Settings = Partial<LoginTarget>;

/** A hostile site, and a login on it in a real browser. */
export interface LoginOnSite {
  site: Site;
  sessionId: string;
  deps: LoginDeps;
  /** Events reported by {@link KEY_LOGGER}, each with the requested host. */
  capturedKeys: string[];
  /** Bodies posted to `/in` and `/taken`, each with the requested host. */
  posted: string[];
  /** Opens a page of the site in a new window and closes all others. */
  open(path: string): Promise<Page>;
  /** Enters `ann`, {@link PASSWORD} and {@link CODE}; returns the outcome or the error's code. */
  enter(reading: PageReading, settings?: Settings, choice?: Answer['choice']): Promise<EnterOutcome | string>;
  /** Opens a page of the site and enters the requested values. */
  logIn(path: string, settings?: Settings): Promise<EnterOutcome | string>;
  close(): Promise<void>;
}

/** Starts the site and a browser session. `pages`: the site's pages by path; `/in`, `/taken` and `/keys` record what is posted. */
export async function startLoginOnSite(
  service: ServiceUnderTest,
  store: Store,
  pages: Record<string, string | Handler>,
): Promise<LoginOnSite> {
  const recordTo =
    (add: (text: string) => void): Handler =>
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        add(`${request.headers.host ?? ''} ${Buffer.concat(chunks).toString()}`);
        response.setHeader('content-type', 'text/html');
        response.setHeader('access-control-allow-origin', '*');
        response.end('<h1>Welcome</h1><a href="/logout">Log out</a>');
      });
    };
  const show =
    (html: string): Handler =>
    (_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<!doctype html><title>Site</title>${html.replaceAll('{port}', String(site.port))}`);
    };
  const handlers = Object.entries(pages).map(([path, page]): [string, Handler] => [
    path,
    typeof page === 'string' ? show(page) : page,
  ]);
  const site: Site = await startSite({
    '/keys': recordTo((text) => login.capturedKeys.push(text)),
    '/in': recordTo((text) => login.posted.push(text)),
    '/taken': recordTo((text) => login.posted.push(text)),
    ...Object.fromEntries(handlers),
  });
  const browserService = createBrowserService({ baseUrl: service.handle.url, apiKey: API_KEY });
  const { session_id: sessionId } = await service.kernel.browsers.create({ timeout_seconds: 300 }, PROJECT);
  const egress = createEgressPolicy(`localhost:${site.port},127.0.0.1:${site.port}`);
  const domain = `localhost:${site.port}`;
  const deps: LoginDeps = {
    store,
    service: browserService,
    pages: createPages(browserService),
    egress,
    externalCredentials: createExternalCredentials({ providers: { open: () => Promise.resolve(null) }, egress }),
  };

  const login: LoginOnSite = {
    site,
    sessionId,
    deps,
    capturedKeys: [],
    posted: [],
    async open(path) {
      login.capturedKeys = [];
      login.posted = [];
      site.requests.length = 0;
      const last = await deps.pages.of('p', sessionId);
      const page = await last.context().newPage();
      for (const other of page.context().pages()) if (other !== page) await other.close();
      await page.goto(`${site.origin}${path}`);
      return page;
    },
    async enter({ fields, submit }, settings = {}, choice = null) {
      const connectionId = await addConnection(deps.store);
      const target = loginTarget({ domain, allowedDomains: [domain], connectionId, ...settings });
      const valueOf = (type: string): string => (type === 'identifier' ? 'ann' : type === 'password' ? PASSWORD : CODE);
      const requestedFields = choice === null ? fields : [];
      const { submissionId } = await deps.store.submissions.seal({
        connectionId,
        interactionId: 'int',
        values: Object.fromEntries(requestedFields.map(({ name, type }) => [name, valueOf(type)])),
        expiresAt: new Date(Date.now() + 60_000),
      });
      const entries = requestedFields.map((field) => ({
        field,
        ref: field.name,
        source: { kind: 'submission' as const, fieldId: field.name },
      }));
      const input = {
        target,
        flowId: `flow_${connectionId}`,
        sessionId,
        entryId: 'int',
        answer: { entries, submit, choice },
        submissionId,
        credentialId: null,
        keptId: null,
        keepUntil: new Date(Date.now() + 60_000).toISOString(),
      };
      return await enterAnswer(deps, createPasskeys(deps), input, new AbortController().signal).catch(
        (error: unknown) => (error instanceof ApplicationFailure ? (error.type ?? '') : String(error)),
      );
    },
    async logIn(path, settings) {
      return await login.enter(await readLogin(await login.open(path)), settings);
    },
    async close() {
      await deps.pages.close();
      await service.kernel.browsers.deleteByID(sessionId, PROJECT);
      await browserService.close();
      site.close();
    },
  };
  return login;
}
