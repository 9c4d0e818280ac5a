import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hostedPage } from '../../api/hosted/plugin.ts';
import { answerErrors } from '../../http/errors.ts';
import { password, pause, username } from './pauses.ts';
import { createScriptedFlow, type ScriptedFlow } from './scripted-flow.ts';

const PAGE = { 'x-holdfast-page': '1', origin: 'https://login.example', 'content-type': 'application/json' };
const ATTEMPT = 'a'.repeat(32);

let app: FastifyInstance;
let flow: ScriptedFlow;
beforeEach(async () => {
  app = Fastify();
  answerErrors(app, { error: () => undefined });
  flow = createScriptedFlow(() => 'https://login.example');
  await app.register(hostedPage, flow.deps);
});
afterEach(() => app.close());

const exchange = (code: string, attempt = ATTEMPT, headers: Record<string, string> = PAGE) =>
  app.inject({ method: 'POST', url: '/login/conn1/exchange', headers, payload: JSON.stringify({ code, attempt }) });

async function enter(): Promise<string> {
  const answer = await exchange(flow.code());
  return String(answer.headers['set-cookie']).split(';')[0] ?? '';
}

const state = (cookie: string, headers: Record<string, string> = {}) =>
  app.inject({ url: '/login/conn1/state', headers: { 'x-holdfast-page': '1', cookie, ...headers } });
const submit = (cookie: string, body: unknown, headers: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: '/login/conn1/submit',
    headers: { ...PAGE, cookie, ...headers },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  });

describe('the page', () => {
  test('is the same whether or not the connection exists, and GET and HEAD have no side effects', async () => {
    const code = flow.code();
    const [known, unknown] = await Promise.all([
      app.inject(`/login/conn1?code=${code}`),
      app.inject('/login/conn2?code=wrong'),
    ]);
    expect(known.statusCode).toBe(200);
    expect(known.body).toBe(unknown.body);
    expect(known.headers['set-cookie']).toBeUndefined();
    expect((await app.inject({ method: 'HEAD', url: `/login/conn1?code=${code}` })).statusCode).toBe(200);
    expect((await exchange(code)).statusCode).toBe(200);
  });

  test('has a strict policy and is never cached, framed or sniffed', async () => {
    const { headers, body } = await app.inject('/login/conn1');
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("base-uri 'none'");
    expect(policy).toContain("form-action 'self'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'x-frame-options': 'DENY',
    });
    expect(body).not.toMatch(/<(script|link|img|iframe)[^>]+(src|href)="(?!data:image\/svg)/);
  });

  test('passes on only http(s) return URLs, escaped', async () => {
    const page = async (query: Record<string, string>) =>
      (await app.inject({ url: '/login/conn1', query })).body.split('<head>')[0] ?? '';
    expect(await page({ success_url: 'javascript:alert(1)', error_url: 'data:text/html,x' })).not.toContain('data-');
    const html = await page({ success_url: 'https://a.example/?a="><script>&b=1' });
    expect(html).toContain('data-success-url="https://a.example/?a=%22%3E%3Cscript%3E&#38;b=1"');
  });

  test.each([
    ['de-AT,de;q=0.9,en;q=0.5', 'de'],
    ['fr, en;q=0.8, de;q=0.9', 'de'],
    ['de;q=0, en', 'en'],
    ['fr', 'en'],
    [undefined, 'en'],
  ])('speaks the language of %j', async (accept, language) => {
    const { headers, body } = await app.inject({
      url: '/login/conn1',
      headers: accept === undefined ? {} : { 'accept-language': accept },
    });
    expect(headers['content-language']).toBe(language);
    expect(body).toContain(`<html lang="${language}"`);
    expect(body).toContain('<noscript>');
  });
});

describe('exchange', () => {
  test('sets a cookie for this connection only, inaccessible to scripts and other sites', async () => {
    const answer = await exchange(flow.code());
    const cookie = String(answer.headers['set-cookie']);
    expect(cookie).toMatch(
      /^__Host-holdfast_login_conn1=[\w.-]+; Path=\/; Max-Age=1800; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect(answer.body).not.toContain(cookie.split(/[=;]/)[1]);
  });

  test('omits the cookie prefix and Secure without https, since browsers would reject them', async () => {
    const plain = Fastify();
    const other = createScriptedFlow(() => 'http://localhost:8080');
    await plain.register(hostedPage, other.deps);
    const answer = await plain.inject({
      method: 'POST',
      url: '/login/conn1/exchange',
      headers: { ...PAGE, origin: 'http://localhost:8080' },
      payload: { code: other.code(), attempt: ATTEMPT },
    });
    expect(String(answer.headers['set-cookie'])).toMatch(
      /^holdfast_login_conn1=[^;]+; Path=\/; Max-Age=1800; HttpOnly; SameSite=Strict$/,
    );
    await plain.close();
  });

  test('admits only one of many concurrent requests with one code', async () => {
    const code = flow.code();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => exchange(code, `attempt-${index}`.padEnd(20, '.'))),
    );
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
    expect(answers.filter(({ statusCode }) => statusCode === 410)).toHaveLength(49);
  });

  test('lets only the page that lost the response retry', async () => {
    const code = flow.code();
    const [first, again] = [await exchange(code), await exchange(code)];
    expect([first.statusCode, again.statusCode]).toEqual([200, 200]);
    expect(again.headers['set-cookie']).toEqual(first.headers['set-cookie']);
    expect((await exchange(code, 'b'.repeat(32))).statusCode).toBe(410);
  });

  test.each([
    ['another site', { ...PAGE, origin: 'https://evil.example' }, 403],
    ['another site, said by the browser', { ...PAGE, 'sec-fetch-site': 'cross-site' }, 403],
    ['a sandboxed frame', { ...PAGE, origin: 'null' }, 403],
    ['no page at all', { 'content-type': 'application/json', 'x-holdfast-page': '1' }, 403],
    ['a form', { ...PAGE, 'content-type': 'text/plain' }, 415],
    ['a page without our header', { origin: PAGE.origin, 'content-type': 'application/json' }, 403],
  ])('refuses %s, and the code stays good', async (_who, headers: Record<string, string>, status) => {
    const code = flow.code();
    expect((await exchange(code, ATTEMPT, headers)).statusCode).toBe(status);
    expect((await exchange(code)).statusCode).toBe(200);
  });
});

describe('the cookie', () => {
  test('opens its flow and shows no more than the page needs', async () => {
    const cookie = await enter();
    flow.go(pause([{ ...username, observed_selector: '#secret-selector' }, password]));
    const { statusCode, body } = await state(cookie);
    expect(statusCode).toBe(200);
    expect(body).not.toMatch(/brw_secret|live\.example|hidden-login|selector|profile_name":"/);
  });

  test('is rejected once a newer flow has started, for reads and submits', async () => {
    const cookie = await enter();
    flow.restart();
    const next = pause([password]);
    flow.go(next);
    expect((await state(cookie)).statusCode).toBe(410);
    const answer = await submit(cookie, { interaction_id: next.interaction_id, field_values: { 'f-pass': 'x' } });
    expect(answer.statusCode).toBe(410);
    expect(flow.submitted).toEqual([]);
  });

  test('is required, intact, and must belong to the connection', async () => {
    const cookie = await enter();
    expect((await state('')).statusCode).toBe(401);
    expect((await state(`${cookie}x`)).statusCode).toBe(401);
    const moved = cookie.replace('login_conn1', 'login_conn2');
    const other = await app.inject({ url: '/login/conn2/state', headers: { 'x-holdfast-page': '1', cookie: moved } });
    expect(other.statusCode).toBe(401);
  });

  test('is rejected for requests from other sites', async () => {
    const cookie = await enter();
    expect((await state(cookie, { 'sec-fetch-site': 'cross-site' })).statusCode).toBe(403);
    expect((await state(cookie, { 'x-holdfast-page': '' })).statusCode).toBe(403);
    const events = await app.inject({ url: '/login/conn1/events', headers: { cookie } });
    expect(events.statusCode).toBe(403);
    expect((await submit(cookie, { interaction_id: 'x' }, { origin: 'https://evil.example' })).statusCode).toBe(403);
  });
});

describe('submit', () => {
  test('forwards the canonical body and nothing else', async () => {
    const cookie = await enter();
    const asked = pause([password]);
    flow.go(asked);
    const good = { interaction_id: asked.interaction_id, field_values: { 'f-pass': 'secret' } };
    expect((await submit(cookie, { ...good, sso_provider: 'google' })).statusCode).toBe(400);
    expect((await submit(cookie, { field_values: good.field_values })).statusCode).toBe(400);
    expect((await submit(cookie, '{"interaction_id":')).statusCode).toBe(400);
    expect(flow.submitted).toEqual([]);
    expect((await submit(cookie, good)).statusCode).toBe(202);
    expect(flow.submitted).toEqual([good]);
  });

  test('never echoes what was sent', async () => {
    const cookie = await enter();
    const { body } = await submit(cookie, { interaction_id: 'i', field_values: { a: 7 }, 'hunter2-key': 'hunter2' });
    expect(body).not.toContain('hunter2');
  });

  test('hides the details of unexpected errors', async () => {
    const cookie = await enter();
    flow.onSubmit = () => {
      throw new Error('password hunter2 broke the vault');
    };
    const answer = await submit(cookie, { interaction_id: 'i', field_values: { a: 'hunter2' } });
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain('hunter2');
  });
});

describe("the screencast of the site's page", () => {
  const hands = (cookie: string, actions: unknown, headers: Record<string, string> = {}) =>
    app.inject({
      method: 'POST',
      url: '/login/conn1/hands',
      headers: { ...PAGE, cookie, ...headers },
      payload: JSON.stringify({ actions }),
    });
  const picture = (cookie: string) =>
    app.inject({ url: '/login/conn1/picture', headers: { 'x-holdfast-page': '1', cookie } });
  const DOWN = { do: 'down', x: 3, y: 4, after_ms: 0 };

  const actsOnPage = () => ({ ...pause([]), flow_step: 'AWAITING_EXTERNAL_ACTION' as const, actsOnPage: true });

  test("is shown only to the flow's person while the flow is waiting for it, and ends with the step", async () => {
    const cookie = await enter();
    expect((await picture(cookie)).statusCode).toBe(404);
    flow.pictures = 'event: frame\ndata: {}\n\n';
    const steps: (() => void)[] = [
      () => flow.go(pause([password])),
      () => flow.go(actsOnPage()),
      () => flow.go({ flow_status: 'SUCCESS', flow_step: 'COMPLETED' }),
    ];
    for (const step of steps) {
      flow.go(actsOnPage());
      expect((await state(cookie)).json()).toMatchObject({ acts_on_page: true });
      const shown = picture(cookie);
      await expect.poll(() => flow.watching).toBe(1);
      step();
      const { headers, body } = await shown;
      expect(headers['content-type']).toContain('text/event-stream');
      expect(headers['cache-control']).toContain('no-store');
      expect(body).toBe(flow.pictures);
      expect(flow.watching).toBe(0);
    }
  });

  test('is hidden from everyone else, and from the person of an older flow', async () => {
    const cookie = await enter();
    flow.go(actsOnPage());
    expect((await picture('')).statusCode).toBe(401);
    expect((await hands('', [DOWN])).statusCode).toBe(401);
    expect((await hands('', [{ do: 'pick', value: '1', after_ms: 0 }])).statusCode).toBe(401);
    expect((await hands(cookie, [DOWN], { origin: 'https://evil.example' })).statusCode).toBe(403);
    expect((await app.inject({ url: '/login/conn1/picture', headers: { cookie } })).statusCode).toBe(403);
    expect(flow.done).toEqual([]);
    const shown = picture(cookie);
    await expect.poll(() => flow.watching).toBe(1);
    flow.restart();
    await shown;
    expect(flow.watching).toBe(0);
  });

  test('accepts input actions and nothing else', async () => {
    const cookie = await enter();
    flow.go({ ...pause([]), flow_step: 'AWAITING_EXTERNAL_ACTION', actsOnPage: true });
    const keys = [
      { do: 'key', key: 'Return', after_ms: 5 },
      { do: 'type', text: 'a', after_ms: 0 },
    ];
    flow.focus = { kind: 'text', label: 'Name', secret: false, keyboard: 'text' };
    const answer = await hands(cookie, [DOWN, ...keys, { do: 'pick', value: '2026-12-24', after_ms: 0 }]);
    expect(answer.json()).toEqual({ focus: flow.focus });
    expect(flow.done).toEqual([DOWN, ...keys, { do: 'pick', value: '2026-12-24', after_ms: 0 }]);
    for (const odd of [
      { ...DOWN, x: -1 },
      { do: 'key', key: 'Ctrl+l', after_ms: 0 },
      { do: 'open', url: 'https://evil.example' },
      { do: 'pick', value: 'x'.repeat(101), after_ms: 0 },
      { do: 'pick', selector: '#other', value: '1', after_ms: 0 },
    ])
      expect((await hands(cookie, [odd])).statusCode).toBe(400);
    expect((await hands(cookie, [])).statusCode).toBe(400);
    expect(
      (
        await hands(
          cookie,
          Array.from({ length: 51 }, () => DOWN),
        )
      ).statusCode,
    ).toBe(400);
    expect(flow.done).toHaveLength(4);
  });
});
