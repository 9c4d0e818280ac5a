import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import cookie from '@fastify/cookie';
import Fastify, { type FastifyInstance } from 'fastify';
import { accountPages } from './pages/account.ts';
import { captchaWidgets } from './pages/captcha-widget.ts';
import { smsLogin, totpLogin } from './pages/codes.ts';
import { customerLogin } from './pages/customer.ts';
import { enrolLogin } from './pages/enrol.ts';
import { framedLogin } from './pages/framed.ts';
import { lateLogin } from './pages/late.ts';
import { mfaChoiceLogin } from './pages/mfa-choice.ts';
import { onePageLogin } from './pages/one-page.ts';
import { magicLinkLogin, pushBesideCodeLogin, pushLogin } from './pages/outside.ts';
import { passkeyLogins } from './pages/passkeys.ts';
import { puzzles } from './pages/puzzles.ts';
import { codeBesideLogin, forgetfulLogin, modalLogin } from './pages/scripted.ts';
import { ssoLogin } from './pages/sso.ts';
import { twoFormsLogin } from './pages/two-forms.ts';
import { twoPhonesLogin } from './pages/two-phones.ts';
import { twoStepLogin } from './pages/two-step.ts';
import { walls } from './pages/walls.ts';
import { SiteState } from './state.ts';
import { testControls } from './test-controls.ts';

export { SANDBOX_USERS, type SandboxUser } from './users.ts';

const PAGES = [
  onePageLogin,
  customerLogin,
  twoStepLogin,
  lateLogin,
  totpLogin,
  smsLogin,
  enrolLogin,
  mfaChoiceLogin,
  twoFormsLogin,
  twoPhonesLogin,
  ssoLogin,
  framedLogin,
  modalLogin,
  forgetfulLogin,
  codeBesideLogin,
  pushLogin,
  pushBesideCodeLogin,
  magicLinkLogin,
  passkeyLogins,
  puzzles,
  captchaWidgets,
  walls,
];

/** Options of the practice site. */
export interface SandboxOptions {
  /** 0 for any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Persists sessions and changed passwords (as hashes). */
  readonly stateFile?: string;
}

/** A running practice site. */
export interface Sandbox {
  readonly url: string;
  readonly port: number;
  /** Stops at once and closes open connections. */
  close(): Promise<void>;
}

/** Starts the practice site. Rejects if the port is in use (`EADDRINUSE`). */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const state = new SiteState(options.stateFile);
  const app = Fastify({
    logger: false,
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true },
  });
  await app.register(cookie);
  parseForms(app);
  applyMode(app, state);
  testControls(app, state);
  accountPages(app, state);
  for (const pages of PAGES) pages(app, state);

  const host = options.host ?? '127.0.0.1';
  await app.listen({ port: options.port, host });
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://localhost:${port}`, port, close: () => app.close() };
}

/** Plain HTML forms arrive URL-encoded. */
function parseForms(app: FastifyInstance): void {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(String(body))));
  });
}

/** Makes the whole site fail on demand, except for the test controls. */
function applyMode(app: FastifyInstance, state: SiteState): void {
  app.addHook('onRequest', async (request, reply) => {
    if (request.url.startsWith('/test/')) return;
    switch (state.mode) {
      case 'ok':
      case 'slow':
        return;
      case 'down':
        return reply.code(503).type('text/html').send('<!doctype html><title>503</title><h1>Service Unavailable</h1>');
      case 'nonsense':
        return reply.code(200).type('text/html').send('<!doctype html><p>%PDF-0 \u0000 qzx {"ok": fal');
    }
  });
  // Requests are processed at once; only the response is delayed.
  app.addHook('onSend', async (request) => {
    if (state.mode === 'slow' && !request.url.startsWith('/test/')) await wait(state.slowMs);
  });
}
