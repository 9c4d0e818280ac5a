import { randomBytes } from 'node:crypto';
import cookie from '@fastify/cookie';
import cors from '@fastify/cors';
import type { Payload, PayloadCodec } from '@temporalio/common';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { isEncrypted } from './payload-codec.ts';

/** Options of {@link createCodecServer}. */
export interface CodecServerOptions {
  codec: PayloadCodec;
  /** Whether an API key may read payloads. */
  mayRead: (apiKey: string) => Promise<boolean>;
  /** Origins of Temporal's UI, for CORS. */
  uiOrigins: readonly string[];
}

/** Path of the "codec endpoint" in Temporal's UI and command line. */
export const CODEC_PATH = '/codec';

/** Base64, as in Temporal's JSON. */
const Bytes = z.base64().transform((text) => Buffer.from(text, 'base64'));
const Payloads = z.object({
  payloads: z.array(
    z.object({ metadata: z.record(z.string(), Bytes).default({}), data: Bytes.default(Buffer.alloc(0)) }),
  ),
});
const SignIn = z.object({ api_key: z.string().max(4096) });

const COOKIE = 'holdfast_codec';
/** How long a browser stays signed in, in milliseconds. */
const SIGNED_IN_MS = 8 * 60 * 60_000;
const MAX_SIGNED_IN = 1_000;
/** Largest request: one page of a workflow's history. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const PAGE = `<!doctype html><html lang="en"><title>Holdfast payloads</title>
<h1>Show payloads in Temporal's UI</h1>
<form method="post" action="${CODEC_PATH}/sign-in">
<label>API key of the whole organization <input name="api_key" type="password" required autocomplete="off"></label>
<button>Sign in</button></form>`;
const SIGNED_IN_PAGE = `<!doctype html><html lang="en"><title>Holdfast payloads</title>
<p>Signed in. Temporal's UI shows payloads in this browser for eight hours.`;

/**
 * Temporal's remote codec, with which its UI and command line show payloads: `POST /codec/encode` and `/codec/decode`. A request
 * needs an API key as its bearer token, or the cookie of a browser that signed in at `/codec`. Payloads that Holdfast did not
 * encrypt pass through unchanged.
 */
export async function createCodecServer({ codec, mayRead, uiOrigins }: CodecServerOptions): Promise<FastifyInstance> {
  const app = Fastify({ bodyLimit: MAX_BODY_BYTES });
  // Not the API key itself: a cookie goes to every port of this host.
  const signedIn = new LRUCache<string, string>({ max: MAX_SIGNED_IN, ttl: SIGNED_IN_MS });

  async function isAllowed(request: FastifyRequest): Promise<boolean> {
    const bearer = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const key = bearer ?? signedIn.get(request.cookies[COOKIE] ?? '');
    return key !== undefined && (await mayRead(key));
  }

  await app.register(cookie);
  await app.register(cors, {
    origin: [...uiOrigins],
    methods: ['POST'],
    allowedHeaders: ['Authorization', 'Content-Type', 'X-Namespace'],
    credentials: true,
  });
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(String(body))));
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.headers({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    done();
  });
  app.setErrorHandler((error, _request, reply) =>
    error instanceof z.ZodError || (error instanceof Error && 'statusCode' in error)
      ? reply.code(400).send({ message: 'The body is malformed; send payloads as Temporal does' })
      : reply.code(422).send({ message: 'The payload could not be decoded; check HOLDFAST_MASTER_KEY' }),
  );

  const converters = {
    encode: (payloads: Payload[]) => codec.encode(payloads, undefined),
    decode: (payloads: Payload[]) =>
      Promise.all(
        payloads.map(async (payload) =>
          isEncrypted(payload) ? (await codec.decode([payload], undefined))[0] : payload,
        ),
      ),
  };
  for (const [name, convert] of Object.entries(converters)) {
    app.post(`${CODEC_PATH}/${name}`, {
      onRequest: async (request, reply) => {
        if (await isAllowed(request)) return;
        await reply.code(401).send({ message: `Sign in at ${CODEC_PATH}, or send an API key as the bearer token` });
      },
      handler: async (request) => ({ payloads: (await convert(Payloads.parse(request.body).payloads)).map(toJson) }),
    });
  }
  app.get(CODEC_PATH, async (_request, reply) => reply.type('text/html; charset=utf-8').send(PAGE));
  app.post(`${CODEC_PATH}/sign-in`, async (request, reply) => {
    const { api_key: key } = SignIn.parse(request.body);
    if (!(await mayRead(key))) return reply.code(401).send({ message: 'This API key may not read payloads' });
    const session = randomBytes(32).toString('base64url');
    signedIn.set(session, key);
    return reply
      .setCookie(COOKIE, session, { httpOnly: true, sameSite: 'strict', path: CODEC_PATH })
      .type('text/html; charset=utf-8')
      .send(SIGNED_IN_PAGE);
  });
  return app;
}

function toJson(payload: Payload | undefined): { metadata: Record<string, string>; data: string } {
  const base64 = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('base64');
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(payload?.metadata ?? {})) metadata[name] = base64(value);
  return { metadata, data: base64(payload?.data) };
}
