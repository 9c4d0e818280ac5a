import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCodecServer } from '../../workers/data-converter/codec-server.ts';
import { createPayloadCodec } from '../../workers/data-converter/payload-codec.ts';

const UI = 'http://localhost:8085';
const codec = createPayloadCodec(Buffer.alloc(32, 1));
const HERE = { type: 'workflow', namespace: 'default', workflowId: 'connection-a' } as const;
const PLAIN = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"domain":"bank.example"}') };
const PLAIN_JSON = {
  metadata: { encoding: PLAIN.metadata.encoding.toString('base64') },
  data: PLAIN.data.toString('base64'),
};

let server: Awaited<ReturnType<typeof createCodecServer>>;
let encrypted: { metadata: Record<string, string>; data: string };
beforeAll(async () => {
  server = await createCodecServer({ codec, mayRead: (key) => Promise.resolve(key === 'operator'), uiOrigins: [UI] });
  const [payload] = await codec.encode([PLAIN], HERE);
  const base64 = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(payload?.metadata ?? {})) metadata[name] = base64(value);
  encrypted = { metadata, data: base64(payload?.data) };
});
afterAll(() => server.close());

const post = (
  path: string,
  payloads: unknown,
  headers: Record<string, string> = { authorization: 'Bearer operator' },
) =>
  server.inject({ method: 'POST', url: `/codec/${path}`, headers: { origin: UI, ...headers }, payload: { payloads } });

describe('the codec server', () => {
  it('decodes workflow payloads, encodes those of the UI, and passes others through', async () => {
    const decoded = await post('decode', [encrypted, PLAIN_JSON]);
    expect(decoded.json()).toEqual({ payloads: [PLAIN_JSON, PLAIN_JSON] });
    expect(decoded.headers).toMatchObject({
      'access-control-allow-origin': UI,
      'access-control-allow-credentials': 'true',
      'cache-control': 'no-store',
    });
    const encoded = await post('encode', [PLAIN_JSON]);
    expect(encoded.body).not.toContain(PLAIN_JSON.data);
    expect((await post('decode', encoded.json<{ payloads: unknown }>().payloads)).json()).toEqual({
      payloads: [PLAIN_JSON],
    });
  });

  it('rejects requests without a key and pages of another origin', async () => {
    for (const headers of [{}, { authorization: 'Bearer stranger' }, { cookie: 'holdfast_codec=made-up' }])
      for (const path of ['decode', 'encode']) expect((await post(path, [encrypted], headers)).statusCode).toBe(401);
    const preflight = await server.inject({
      method: 'OPTIONS',
      url: '/codec/decode',
      headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('recognizes a signed-in browser by a cookie that is not the key', async () => {
    const signIn = (key: string) =>
      server.inject({
        method: 'POST',
        url: '/codec/sign-in',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: `api_key=${key}`,
      });
    expect((await server.inject('/codec')).body).toContain('action="/codec/sign-in"');
    expect((await signIn('stranger')).statusCode).toBe(401);
    const [cookie] = (await signIn('operator')).cookies;
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/codec' });
    expect(cookie?.value).not.toContain('operator');
    const decoded = await post('decode', [encrypted], { cookie: `${cookie?.name}=${cookie?.value}` });
    expect(decoded.json()).toEqual({ payloads: [PLAIN_JSON] });
  });

  it('reveals nothing about a payload that it cannot decode', async () => {
    const broken = { ...encrypted, data: Buffer.alloc(60).toString('base64') };
    const answer = await post('decode', [broken]);
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toEqual({ message: 'The payload could not be decoded; check HOLDFAST_MASTER_KEY' });
    expect((await post('decode', 'nonsense')).statusCode).toBe(400);
  });
});
