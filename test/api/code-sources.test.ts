import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { createCodeInbox } from '../../codes/inbox.ts';
import { isSignedByMailgun, isSignedByTwilio } from '../../codes/signatures.ts';
import { startSmtp } from '../../codes/smtp.ts';
import { useService } from './service-fixture.ts';

const fixture = useService();
const SECRET = 'an-auth-token-of-the-tests';
const PHONE = '+15550109999';

/** A connection whose login is in progress. */
async function loggingIn(domain: string, codes: object): Promise<string> {
  const { call } = fixture();
  const { id } = (await call('POST', '/auth/connections', { domain, profile_name: 'ann', codes })).json<{
    id: string;
  }>();
  expect((await call('POST', `/auth/connections/${id}/login`)).statusCode).toBe(200);
  return id;
}

/** The code that waits for a connection's code step. */
async function waiting(id: string): Promise<string | undefined> {
  const { store } = fixture();
  const flowId = (await store.connections.byIdUnscoped(id))?.document.flow?.flow_id ?? '';
  const found = await store.submissions.find(id, `codes:${flowId}`);
  return found === null ? undefined : (await store.submissions.open(found))?.values['code'];
}

async function source(type: 'twilio' | 'mailgun'): Promise<{ id: string; url: string }> {
  const made = await fixture().call('POST', '/code_sources', { type, secret: SECRET });
  expect(made.statusCode).toBe(201);
  expect(made.body).not.toContain(SECRET);
  return made.json();
}

/** Posts a form as a provider does, without a key. */
function post(url: string, values: Record<string, string>, headers: Record<string, string> = {}) {
  return fixture().app.inject({
    method: 'POST',
    url: new URL(url).pathname,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(values).toString(),
  });
}

function textMessage(url: string, text: string, secret = SECRET) {
  const values = { Body: text, From: '+15550100000', To: PHONE };
  const signed = Object.entries(values).reduce((all, [name, value]) => all + name + value, url);
  return post(url, values, { 'x-twilio-signature': createHmac('sha1', secret).update(signed).digest('base64') });
}

describe('a code source', () => {
  it('delivers a text message to the login that it names, among those with its number', async () => {
    const { url } = await source('twilio');
    const bank = await loggingIn('bank.example', { phone_number: PHONE });
    expect((await textMessage(url, '111222 is your code')).statusCode).toBe(204);
    expect(await waiting(bank)).toBe('111222');
    const shop = await loggingIn('shop.example', { phone_number: PHONE });
    await textMessage(url, '333444 is your Shop code');
    await textMessage(url, '555666 is your code');
    expect([await waiting(bank), await waiting(shop)]).toEqual(['111222', '333444']);
  });

  it('is authenticated by its signature, and limited to its own project', async () => {
    const { call, store } = fixture();
    const { id, url } = await source('twilio');
    const ours = await loggingIn('signed.example', { phone_number: PHONE });
    expect((await textMessage(url, 'Signed code 777888', 'another secret')).statusCode).toBe(403);
    expect(await waiting(ours)).toBeUndefined();
    const project = await store.projects.create('org_default', { name: 'Theirs' });
    const theirs = { 'x-kernel-project-id': project.id };
    const elsewhere = (await call('POST', '/code_sources', { type: 'twilio', secret: SECRET }, theirs)).json<{
      url: string;
    }>();
    expect((await textMessage(elsewhere.url, 'Signed code 777888')).statusCode).toBe(204);
    expect(await waiting(ours)).toBeUndefined();
    expect((await call('DELETE', `/code_sources/${id}`, undefined, theirs)).statusCode).toBe(404);
    expect((await call('GET', '/code_sources', undefined, theirs)).json<object[]>()).toHaveLength(1);
    expect((await call('DELETE', `/code_sources/${id}`)).statusCode).toBe(204);
    expect((await textMessage(url, 'Signed code 777888')).statusCode).toBe(404);
  });

  it('delivers an email, as a form or with an attachment, and rejects an old signature', async () => {
    const { url } = await source('mailgun');
    const id = await loggingIn('mailed.example', { email_address: 'Ann@codes.example' });
    const mail = (text: string, at: number) => {
      const timestamp = String(Math.floor(at / 1000));
      const signature = createHmac('sha256', SECRET).update(`${timestamp}t`).digest('hex');
      return {
        recipient: 'ann@codes.example',
        sender: 'a@b.example',
        'body-plain': text,
        timestamp,
        token: 't',
        signature,
      };
    };
    expect((await post(url, mail('Your code is 121212', Date.now() - 3_600_000))).statusCode).toBe(403);
    expect(await waiting(id)).toBeUndefined();
    expect((await post(url, mail('Your code is 343434', Date.now()))).statusCode).toBe(204);
    expect(await waiting(id)).toBe('343434');
    const form = new FormData();
    for (const [name, value] of Object.entries(mail('Your code is 565656', Date.now()))) form.append(name, value);
    form.append('attachment-1', new Blob(['a picture']), 'logo.png');
    const request = new Request('http://holdfast.test/', { method: 'POST', body: form });
    const answer = await fixture().app.inject({
      method: 'POST',
      url: new URL(url).pathname,
      headers: { 'content-type': request.headers.get('content-type') ?? '' },
      payload: Buffer.from(await request.arrayBuffer()),
    });
    expect([answer.statusCode, await waiting(id)]).toEqual([204, '565656']);
  });

  it.each([
    ['its own example', 'RSOYDt4T1cUTdK1PDd93/VVr8B8=', true],
    ['another signature', 'RSOYDt4T1cUTdK1PDd93/VVr8B9=', false],
    ['none', '', false],
  ])('is checked as Twilio documents it: %s', (_what, signature, isGood) => {
    const values = {
      CallSid: 'CA1234567890ABCDE',
      Caller: '+14158675309',
      Digits: '1234',
      From: '+14158675309',
      To: '+18005551212',
    };
    const url = 'https://mycompany.com/myapp.php?foo=1&bar=2';
    expect(isSignedByTwilio('12345', { url, values, signature })).toBe(isGood);
    expect(isSignedByMailgun('12345', values, new Date())).toBe(false);
  });
});

describe('mail by SMTP', () => {
  it('is accepted only for addresses of connections', async () => {
    const { store, deps } = fixture();
    const id = await loggingIn('smtp.example', { email_address: 'bob@codes.example' });
    const smtp = await startSmtp({ store, inbox: createCodeInbox(deps), port: 0, host: '127.0.0.1' });
    const answers = await converse(smtp.port, [
      'EHLO site.example',
      'MAIL FROM:<login@site.example>',
      'RCPT TO:<nobody@codes.example>',
      'RCPT TO:<Bob@codes.example>',
      'DATA',
      'Subject: Sign in\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<style>p{width:654321px}</style><p>Your code:</p><p><b>909=\r\n 808</b></p>\r\n.',
      'QUIT',
    ]);
    await smtp.close();
    expect(answers.map((answer) => answer.slice(0, 3))).toEqual([
      '220',
      '250',
      '250',
      '550',
      '250',
      '354',
      '250',
      '221',
    ]);
    expect(await waiting(id)).toBe('909808');
  });
});

/** Sends lines one after the other, each when the one before it was answered; answers the last line of each answer. */
async function converse(port: number, lines: string[]): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  const answers: string[] = [];
  for await (const line of createInterface({ input: socket })) {
    if (line[3] === '-') continue;
    answers.push(line);
    const next = lines.shift();
    if (next === undefined) break;
    socket.write(`${next}\r\n`);
  }
  socket.destroy();
  return answers;
}

it('rejects a malformed form', async () => {
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const url = '/code_sources/cds_x/messages';
  const answer = await fixture().app.inject({ method: 'POST', url, headers, payload: '--b\r\nNone--b--\r\n' });
  expect(answer.statusCode).toBe(400);
});
