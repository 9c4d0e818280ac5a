import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createFormModel } from '../../activities/login/reading/form-model.ts';
import { drawPage, type DrawnForm } from '../reader/drawn-facts.ts';
import { analyzePage } from '../../reader/analyze-page.ts';
import type { Candidates } from '../../reader/form/candidates.ts';

const PARTNERS = { heading: 'Partners', fields: ['partner', '*partner_secret'], button: 'Sign in' };
const MEMBERS = { heading: 'Members, 0171 2345678', fields: ['member', '*member_secret'], button: 'Sign in' };

function close(forms: DrawnForm[]): Candidates | null {
  const [top] = drawPage(forms, 'Harbour of bob@harbour.test');
  if (top === undefined) throw new Error('a page was drawn');
  const url = 'https://harbour.test/sign-in/9f8e7d6c5b4a?token=very-secret';
  const controls = top.facts.controls.map((control) => ({ ...control, filled: true }));
  return analyzePage(url, [{ ...top, facts: { ...top.facts, url, controls } }]).candidates;
}

let server: Server;
let answer: (response: ServerResponse) => void;
let asked: { path: string; authorization: string; body: string }[];
beforeEach(async () => {
  asked = [];
  server = createServer((request: IncomingMessage, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      asked.push({ path: request.url ?? '', authorization: request.headers.authorization ?? '', body });
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const says = (content: string) => (response: ServerResponse) =>
  void response
    .setHeader('content-type', 'application/json')
    .end(JSON.stringify({ choices: [{ message: { content } }] }));

/** What the model at the stand-in takes for the login: the first field of the form; null where it is not listened to. */
async function chosenOf(times = 1): Promise<string | null> {
  const candidates = close([PARTNERS, MEMBERS]);
  if (candidates === null) throw new Error('these forms are close');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const model = createFormModel({ url, name: 'small', key: 'key-of-the-operator' }, 500);
  let key: string | null = null;
  for (let time = 0; time < times; time += 1) key = await model.choose(candidates);
  const at = candidates.forms.findIndex((form) => form.key === key);
  return candidates.forms[at]?.fields[0]?.words ?? null;
}

it('uses the form that the model names and asks once per page', async () => {
  answer = says(' 2. ');
  expect(await chosenOf(3)).toBe('member');
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({ path: '/v1/chat/completions', authorization: 'Bearer key-of-the-operator' });
  const { model, messages } = JSON.parse(asked[0]?.body ?? '') as { model: string; messages: { content: string }[] };
  expect(model).toBe('small');
  expect(messages.at(-1)?.content).toContain('Partners');
});

it('sends the model no personal data, values or tokens', async () => {
  answer = says('1');
  expect(await chosenOf()).toBe('partner');
  expect(asked[0]?.body).not.toMatch(/bob@|2345678|token|secret=|9f8e7d|#member/);
});

it.each([
  ['a form that is not there', says('3')],
  ['a number below the first', says('0')],
  ['words', says('The second form, because of its heading.')],
  ['nothing', says('')],
  ['another shape', (response: ServerResponse) => void response.end('{"choices":[]}')],
  ['an error', (response: ServerResponse) => void response.writeHead(500).end(JSON.stringify({ error: 'no' }))],
  ['a redirect', (response: ServerResponse) => void response.writeHead(302, { location: '/elsewhere' }).end()],
  ['silence', () => undefined],
  ['half an answer', (response: ServerResponse) => void response.writeHead(200).write('{"choices":[{"message":')],
  ['a line that is cut', (response: ServerResponse) => void response.destroy()],
])('falls back to the rules if the model answers %s', async (_what, how) => {
  answer = how;
  expect(await chosenOf()).toBeNull();
  expect(asked).toHaveLength(1);
});

it('is asked only about similar forms', () => {
  expect(close([MEMBERS])).toBeNull();
  expect(close([PARTNERS, { ...MEMBERS, region: 'footer' }])).toBeNull();
});
