import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCaptchaSolver, type CaptchaSolver } from '../../activities/login/captcha/solver-client.ts';
import type { Widget } from '../../activities/login/captcha/widget.ts';

const WIDGET: Widget = { type: 'recaptcha_v2', siteKey: '6Lkey', invisible: false, enterprise: false };
const PAGE = 'https://site.example/login';
const { signal } = new AbortController();

let server: Server;
let answer: (response: ServerResponse) => void;
let asked: { path: string; body: unknown }[];
let url: string;
let solver: CaptchaSolver;
beforeEach(async () => {
  asked = [];
  server = createServer((request: IncomingMessage, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      asked.push({ path: request.url ?? '', body: JSON.parse(body) });
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  solver = createCaptchaSolver({ url, key: 'key-of-the-operator' });
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const says = (said: unknown) => (response: ServerResponse) =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify(said));

describe('a task', () => {
  it.each<[string, Partial<Widget>, object]>([
    ['reCAPTCHA v2', {}, { type: 'RecaptchaV2TaskProxyless' }],
    ['an invisible one', { invisible: true }, { type: 'RecaptchaV2TaskProxyless', isInvisible: true }],
    ['one of Enterprise', { enterprise: true }, { type: 'RecaptchaV2EnterpriseTaskProxyless' }],
    ['reCAPTCHA v3', { type: 'recaptcha_v3' }, { type: 'RecaptchaV3TaskProxyless', minScore: 0.7 }],
    ['hCaptcha', { type: 'hcaptcha' }, { type: 'HCaptchaTaskProxyless' }],
    ['Turnstile', { type: 'turnstile' }, { type: 'TurnstileTaskProxyless' }],
  ])('for %s contains only type, key and URL', async (_what, widget, task) => {
    answer = says({ errorId: 0, taskId: 4711 });
    expect(await solver.createTask({ ...WIDGET, ...widget }, PAGE, signal)).toEqual({ taskId: 4711 });
    expect(asked).toEqual([
      {
        path: '/api/createTask',
        body: { clientKey: 'key-of-the-operator', task: { ...task, websiteURL: PAGE, websiteKey: '6Lkey' } },
      },
    ]);
  });

  it.each<[string, (response: ServerResponse) => void, string]>([
    ['refuses', says({ errorId: 1, errorCode: 'ERROR_ZERO_BALANCE', errorDescription: 'x' }), 'ERROR_ZERO_BALANCE'],
    ['refuses in other words', says({ errorId: 2, errorCode: 'No <b>funds</b>' }), 'solver_refused'],
    ['says nothing of a task', says({ errorId: 0 }), 'solver_answer_unusable'],
    ['is a web page', (response) => void response.end('<!doctype html>'), 'solver_answer_unusable'],
    [
      'sends elsewhere',
      (response) => void response.writeHead(307, { location: '/other' }).end(),
      'solver_answer_unusable',
    ],
    ['is out of order', (response) => void response.writeHead(502).end(), 'solver_unreachable'],
    ['cuts the line', (response) => void response.destroy(), 'solver_unreachable'],
  ])('is not created by a solver that %s', async (_what, how, error) => {
    answer = how;
    expect(await solver.createTask(WIDGET, PAGE, signal)).toEqual({ error });
    expect(asked).toHaveLength(1);
  });

  it('is not created by a solver that does not respond', async () => {
    answer = () => undefined;
    const hasty = createCaptchaSolver({ url, key: undefined }, 50);
    expect(await hasty.createTask(WIDGET, PAGE, signal)).toEqual({ error: 'solver_unreachable' });
  });
});

describe('a result', () => {
  it.each<[string, (response: ServerResponse) => void, object]>([
    ['still works', says({ errorId: 0, status: 'processing' }), { state: 'processing' }],
    ['is done', says({ errorId: 0, status: 'ready', solution: { gRecaptchaResponse: 't-1' } }), { token: 't-1' }],
    ['is done in its other word', says({ errorId: 0, status: 'ready', solution: { token: 't-2' } }), { token: 't-2' }],
    ['gave up', says({ errorId: 12, errorCode: 'ERROR_CAPTCHA_UNSOLVABLE' }), { error: 'ERROR_CAPTCHA_UNSOLVABLE' }],
    ['has no answer', says({ errorId: 0, status: 'ready', solution: {} }), { error: 'solver_answer_unusable' }],
    [
      'gives lines',
      says({ errorId: 0, status: 'ready', solution: { token: 'a\nb' } }),
      { error: 'solver_answer_unusable' },
    ],
    ['is asked too much', (response) => void response.writeHead(429).end(), { state: 'processing' }],
    ['is away for a moment', (response) => void response.writeHead(503).end(), { state: 'processing' }],
  ])('of a solver that %s', async (_what, how, wanted) => {
    answer = how;
    expect(await solver.getResult('task-9', signal)).toMatchObject(wanted);
    expect(asked).toEqual([
      { path: '/api/getTaskResult', body: { clientKey: 'key-of-the-operator', taskId: 'task-9' } },
    ]);
  });

  it('is aborted with the flow', async () => {
    answer = () => undefined;
    const cancelled = new AbortController();
    const looked = solver.getResult(1, cancelled.signal);
    cancelled.abort();
    expect(await looked).toEqual({ state: 'processing' });
  });
});
