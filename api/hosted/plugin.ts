import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { HoldfastError } from '../../contract/errors.ts';
import { MAX_FIELD_VALUE_LENGTH } from '../../contract/limits.ts';
import { streamStates } from './event-stream.ts';
import { createExchangeRetries } from './exchange-retries.ts';
import { COMMON_HEADERS, DATA_CSP, pageCsp } from './headers.ts';
import { loadPageParts } from './page-parts.ts';
import type { HostedPorts, HostedSession } from './ports.ts';
import { acceptReturnUrl } from './return-url.ts';
import { requireJson, requireSameOrigin } from './same-origin.ts';
import { createSessionCookie, isConnectionId } from './session-cookie.ts';
import { chooseLanguage, renderShell } from './shell.ts';
import { viewOf, type FlowView } from './view.ts';

/** Largest body of a submit, in bytes. */
const SUBMIT_BODY_LIMIT = 256 * 1024;
/** Most streams that one flow may hold open at once in this process: a few tabs and their reconnects. */
const MAX_STREAMS_PER_FLOW = 12;

const ExchangeBody = z.strictObject({ code: z.string().min(1).max(512), attempt: z.string().min(16).max(128) });
const SubmitBody = z.strictObject({
  interaction_id: z.string().min(1).max(200),
  field_values: z.record(z.string().max(200), z.string().max(MAX_FIELD_VALUE_LENGTH)).optional(),
  selected_choice_id: z.string().min(1).max(200).optional(),
});

/**
 * The page behind `hosted_url`, and the endpoints that it alone calls, all below `/login/{connection id}`:
 * - `GET` answers the page. It changes nothing and knows nothing, so a mail scanner that fetches the link does no harm.
 * - `POST exchange` redeems the code and sets a cookie for that one flow.
 * - `GET state`, `GET events`, `POST submit` work by that cookie, for that flow, from our own origin.
 */
export async function hostedPage(app: FastifyInstance, ports: HostedPorts): Promise<void> {
  const parts = await loadPageParts();
  const csp = pageCsp(parts, ports.allowedOrigins);
  // For browsers that know no frame-ancestors; it cannot name origins.
  const framing = ports.allowedOrigins.length === 0 ? { 'x-frame-options': 'DENY' } : {};
  const cookie = createSessionCookie(ports.publicUrl);
  const retries = createExchangeRetries();
  const streams = new Map<string, number>();
  const closing = new AbortController();
  // A stream would keep the service from closing until its flow ends.
  app.addHook('preClose', (done) => {
    closing.abort();
    done();
  });

  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({ ...COMMON_HEADERS, ...framing, 'content-security-policy': DATA_CSP });
  });
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply));

  app.get<{ Params: { id: string }; Querystring: Record<string, unknown> }>(
    '/login/:id',
    { exposeHeadRoute: true },
    async (request, reply) => {
      const language = chooseLanguage(request.headers['accept-language']);
      const successUrl = acceptReturnUrl(firstString(request.query['success_url']));
      const errorUrl = acceptReturnUrl(firstString(request.query['error_url']));
      return reply
        .headers({
          'content-security-policy': csp,
          'content-type': 'text/html; charset=utf-8',
          'content-language': language,
          vary: 'accept-language',
        })
        .send(renderShell(parts, { language, successUrl, errorUrl }));
    },
  );

  app.post<{ Params: { id: string } }>('/login/:id/exchange', { bodyLimit: 4096 }, async (request, reply) => {
    const id = connectionIdOf(request.params.id);
    requireJson(request);
    requireSameOrigin(request, ports.publicUrl);
    const { code, attempt } = parse(ExchangeBody, request.body);
    const { jwt, flowId } = await retries.run({ connectionId: id, code, attempt }, () => ports.exchange(id, code));
    cookie.write(reply, id, jwt);
    return currentView({ connectionId: id, flowId });
  });

  app.get<{ Params: { id: string } }>('/login/:id/state', async (request) => {
    return currentView(await sessionOf(request, request.params.id));
  });

  app.get<{ Params: { id: string } }>('/login/:id/events', async (request, reply) => {
    const session = await sessionOf(request, request.params.id);
    // A stream of nothing would look like a lost one, and the page would ask again for ever.
    if ((await ports.read(session.connectionId)) === null) throw connectionGone();
    const open = streams.get(session.flowId) ?? 0;
    if (open >= MAX_STREAMS_PER_FLOW)
      throw new HoldfastError('rate_limited', 'Too many tabs follow this login.', { retryAfterSeconds: 5 });
    streams.set(session.flowId, open + 1);
    reply.hijack();
    try {
      await streamStates(reply, ports, session, {
        afterRevision: revisionOf(request.headers['last-event-id']),
        closing: closing.signal,
      });
    } finally {
      const left = (streams.get(session.flowId) ?? 1) - 1;
      if (left > 0) streams.set(session.flowId, left);
      else streams.delete(session.flowId);
    }
  });

  app.post<{ Params: { id: string } }>(
    '/login/:id/submit',
    { bodyLimit: SUBMIT_BODY_LIMIT },
    async (request, reply) => {
      requireJson(request);
      const session = await sessionOf(request, request.params.id);
      const { field_values: values, selected_choice_id: choice, ...rest } = parse(SubmitBody, request.body);
      // The cookie is for one flow: when another has begun, its questions are not this person's to answer.
      await currentView(session);
      await ports.submit(session.connectionId, {
        ...rest,
        ...(values === undefined ? {} : { field_values: values }),
        ...(choice === undefined ? {} : { selected_choice_id: choice }),
      });
      return reply.code(202).send({ accepted: true });
    },
  );

  async function sessionOf(request: FastifyRequest, id: string): Promise<HostedSession> {
    connectionIdOf(id);
    requireSameOrigin(request, ports.publicUrl);
    const jwt = cookie.read(request, id);
    const session = jwt === null ? null : await ports.verify(jwt);
    if (session === null || session.connectionId !== id || session.expiresAt <= Date.now())
      throw new HoldfastError('unauthorized', 'This browser has not opened the login, or too long ago.');
    return session;
  }

  async function currentView({ connectionId, flowId }: Omit<HostedSession, 'expiresAt'>): Promise<FlowView> {
    const state = await ports.read(connectionId);
    if (state === null) throw connectionGone();
    const view = viewOf(state, flowId, new Date());
    if (view === null) throw new HoldfastError('gone', 'A newer login has taken the place of this one.');
    return view;
  }
}

function connectionIdOf(id: string): string {
  if (!isConnectionId(id)) throw new HoldfastError('not_found', 'No such connection.');
  return id;
}

function connectionGone(): HoldfastError {
  return new HoldfastError('not_found', 'The connection does not exist any more.');
}

function parse<Out>(schema: z.ZodType<Out>, body: unknown): Out {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  // Only the place of the fault is told: the input may be a password.
  const details = result.error.issues.map(({ path }) => ({ code: 'invalid_input', message: path.join('.') || 'body' }));
  throw new HoldfastError('invalid_input', 'The body is not of the shape that the hosted page sends.', { details });
}

function revisionOf(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : null;
}

function firstString(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : null;
}

/** Errors of ours are answered as they are, Fastify's own by their status, all others as a fault without words. */
function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = error instanceof HoldfastError ? error : fromFastify(error);
  if (known.status >= 500) request.log.error({ code: known.code }, 'hosted page: request failed');
  if (known.retryAfterSeconds !== undefined) reply.header('retry-after', String(known.retryAfterSeconds));
  return reply.code(known.status).send(known.toBody());
}

function fromFastify(error: unknown): HoldfastError {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : 500;
  if (status === 413) return new HoldfastError('payload_too_large', 'The body is larger than allowed.');
  if (status === 415) return new HoldfastError('unsupported_media_type', 'Send the body as application/json.');
  if (status === 429) return new HoldfastError('rate_limited', 'Too many requests.', { retryAfterSeconds: 5 });
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new HoldfastError('bad_request', 'The request is malformed.');
  return new HoldfastError('internal_error', 'A fault of Holdfast. Try again.');
}
