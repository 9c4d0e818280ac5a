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
import type { PageReading } from '../../contract/reading.ts';
import { createExternalCredentials } from '../../credential-providers/external-credentials.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import type { Store } from '../../store/store.ts';
import { API_KEY, startSite, type ServiceUnderTest, type Site } from '../browser/service-under-test.ts';
import { addConnection } from '../store/databases.ts';
import { loginTarget } from './login-target.ts';

export const PASSWORD = 'Zq7#kVx2!mWp9';
/** What an application/x-www-form-urlencoded body makes of {@link PASSWORD}. */
export const PASSWORD_IN_FORM = encodeURIComponent(PASSWORD).replace('!', '%21');
export const CODE = '918273';
/** The site's other name, which is another site: `{port}` becomes its port. */
export const AWAY = 'http://127.0.0.1:{port}';

/** Tells its server of every key that reaches a page, and of every text that is in one of its fields. */
export const SPY = (at: string): string => `<script>
  for (const type of ['keydown', 'keypress', 'beforeinput'])
    addEventListener(type, (event) => fetch('/keys', { method: 'POST', body: '${at} ' + (event.data ?? event.key) }), true);
</script>`;
export const FORM = (more = ''): string =>
  `<h1>Sign in</h1><form action="/in" method="post"><label>User <input name="user" id="user"></label>
   <label>Password <input type="password" name="pass" id="pass"></label><button>Sign in</button></form>${more}`;

const PROJECT = { headers: { 'x-kernel-project-id': 'p' } };

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;
type Settings = Partial<LoginTarget>;

/** A hostile site, and the entering of a login on it in a real browser. */
export interface Entering {
  site: Site;
  sessionId: string;
  deps: LoginDeps;
  /** Keys that reached a page with {@link SPY}, by the host that its server was called by. */
  stolen: string[];
  /** What was posted, by the host that it was posted to. */
  posted: string[];
  /** Opens a page of the site in a fresh window, the only one then. */
  open(path: string): Promise<Page>;
  /** Enters `ann`, {@link PASSWORD} and {@link CODE} into what a reading asks for; answers the outcome, or the fault's code. */
  enter(reading: PageReading, settings?: Settings, choice?: Answer['choice']): Promise<EnterOutcome | string>;
  /** Opens a page of the site and enters what it asks for. */
  logIn(path: string, settings?: Settings): Promise<EnterOutcome | string>;
  close(): Promise<void>;
}

/** Starts it. `pages`: what the site shows by path; what it is posted at `/in`, `/taken` and `/keys` is told by the result. */
export async function startEntering(
  service: ServiceUnderTest,
  store: Store,
  pages: Record<string, string | Handler>,
): Promise<Entering> {
  const take =
    (into: (text: string) => void): Handler =>
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        into(`${request.headers.host ?? ''} ${Buffer.concat(chunks).toString()}`);
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
  const shown = Object.entries(pages).map(([path, page]): [string, Handler] => [
    path,
    typeof page === 'string' ? show(page) : page,
  ]);
  const site: Site = await startSite({
    '/keys': take((text) => entering.stolen.push(text)),
    '/in': take((text) => entering.posted.push(text)),
    '/taken': take((text) => entering.posted.push(text)),
    ...Object.fromEntries(shown),
  });
  const caller = createBrowserService({ baseUrl: service.handle.url, apiKey: API_KEY });
  const { session_id: sessionId } = await service.kernel.browsers.create({ timeout_seconds: 300 }, PROJECT);
  const egress = createEgressPolicy(`localhost:${site.port},127.0.0.1:${site.port}`);
  const own = `localhost:${site.port}`;
  const deps: LoginDeps = {
    store,
    service: caller,
    pages: createPages(caller),
    egress,
    externalCredentials: createExternalCredentials({ providers: { open: () => Promise.resolve(null) }, egress }),
  };

  const entering: Entering = {
    site,
    sessionId,
    deps,
    stolen: [],
    posted: [],
    async open(path) {
      entering.stolen = [];
      entering.posted = [];
      site.requests.length = 0;
      const last = await deps.pages.of('p', sessionId);
      const page = await last.context().newPage();
      for (const other of page.context().pages()) if (other !== page) await other.close();
      await page.goto(`${site.origin}${path}`);
      return page;
    },
    async enter({ fields, submit }, settings = {}, choice = null) {
      const connectionId = await addConnection(deps.store);
      const target = loginTarget({ domain: own, allowedDomains: [own], connectionId, ...settings });
      const valueOf = (type: string): string => (type === 'identifier' ? 'ann' : type === 'password' ? PASSWORD : CODE);
      const asked = choice === null ? fields : [];
      const { submissionId } = await deps.store.submissions.seal({
        connectionId,
        interactionId: 'int',
        values: Object.fromEntries(asked.map(({ name, type }) => [name, valueOf(type)])),
        expiresAt: new Date(Date.now() + 60_000),
      });
      const entries = asked.map((field) => ({
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
      return await entering.enter(await readLogin(await entering.open(path)), settings);
    },
    async close() {
      await deps.pages.close();
      await service.kernel.browsers.deleteByID(sessionId, PROJECT);
      await caller.close();
      site.close();
    },
  };
  return entering;
}
