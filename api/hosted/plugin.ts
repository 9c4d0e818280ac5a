import type { FastifyInstance, FastifyRequest } from 'fastify';
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { HoldfastError } from '../../contract/errors.ts';
import { MAX_FIELD_VALUE_LENGTH } from '../../contract/limits.ts';
import { lastEventIdOf } from '../../http/headers.ts';
import { omitUndefined } from '../nullish.ts';
import { InputAction, type HostedPageDeps, type HostedSession } from './deps.ts';
import { streamScreencast, streamStates } from './streams.ts';
import { createExchangeRetries } from './exchange-retries.ts';
import { COMMON_HEADERS, DATA_CSP, pageCsp } from './headers.ts';
import { loadPageParts } from './page-parts.ts';
import { acceptReturnUrl } from './return-url.ts';
import { requireJson, requireSameOrigin } from '../cross-origin.ts';
import { createSessionCookie, isConnectionId } from './session-cookie.ts';
import { chooseLanguage, renderShell } from './shell.ts';
import { toFlowView, type FlowView } from './view.ts';

/** Maximum size of a submit body, in bytes. */
const SUBMIT_BODY_LIMIT = 256 * 1024;
/** Maximum concurrent streams per flow in this process: a few tabs and their reconnects. */
const MAX_STREAMS_PER_FLOW = 12;

const Params = z.object({ id: z.string() });
const ExchangeBody = z.strictObject({ code: z.string().min(1).max(512), attempt: z.string().min(16).max(128) });
const SubmitBody = z.strictObject({
  interaction_id: z.string().min(1).max(200),
  field_values: z.record(z.string().max(200), z.string().max(MAX_FIELD_VALUE_LENGTH)).optional(),
  selected_choice_id: z.string().min(1).max(200).optional(),
  wrong_form: z.literal(true).optional(),
});

/** As many as a batch of the computer endpoints takes, each preceded by a pause. */
const InputBody = z.strictObject({ actions: z.array(InputAction).min(1).max(50) });

/**
 * The page behind `hosted_url`, and the endpoints only it calls, all below `/login/{connection id}`:
 * - `GET` returns the page. It has no side effects and contains no data, so mail scanners that fetch the link do no harm.
 * - `POST exchange` redeems the code and sets a cookie for that one flow.
 * - `GET state`, `GET events`, `POST submit` are authorized by that cookie, for that flow, from our own origin.
 * - `GET picture` (a screencast) and `POST hands` (input): likewise, while the flow is waiting for the person to act on the
 *   site's page.
 * Errors are handled by the service the plugin is registered in.
 */
export async function hostedPage(service: FastifyInstance, deps: HostedPageDeps): Promise<void> {
  const app = service.withTypeProvider<ZodTypeProvider>();
  const parts = await loadPageParts();
  const csp = pageCsp(parts, deps.allowedOrigins);
  // For browsers without frame-ancestors; it cannot name origins.
  const framing = deps.allowedOrigins.length === 0 ? { 'x-frame-options': 'DENY' } : {};
  const cookie = createSessionCookie(deps.publicUrl);
  const retries = createExchangeRetries();
  const streams = new Map<string, number>();
  const closing = new AbortController();
  // Open streams would keep the service from closing.
  app.addHook('preClose', (done) => {
    closing.abort();
    done();
  });

  app.setValidatorCompiler(validatorCompiler);
  // Report only the field: values and property names may contain a password.
  app.setSchemaErrorFormatter((issues) => {
    const details = issues.map(({ instancePath }) => ({
      code: 'invalid_input',
      message: instancePath.slice(1).replaceAll('/', '.') || 'body',
    }));
    return new HoldfastError('invalid_input', 'Invalid request body; reload the page', {
      details,
    });
  });
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({ ...COMMON_HEADERS, ...framing, 'content-security-policy': DATA_CSP });
    if (request.method === 'POST') {
      requireJson(request);
      requireSameOrigin(request, deps.publicUrl);
    }
    done();
  });

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

  app.post(
    '/login/:id/exchange',
    { bodyLimit: 4096, schema: { params: Params, body: ExchangeBody } },
    async (request, reply) => {
      const id = requireConnectionId(request.params.id);
      const { code, attempt } = request.body;
      const { jwt, flowId } = await retries.run({ connectionId: id, code, attempt }, () => deps.exchange(id, code));
      request.auditConnection = id;
      cookie.write(reply, id, jwt);
      return currentView({ connectionId: id, flowId });
    },
  );

  app.get('/login/:id/state', { schema: { params: Params } }, async (request) => {
    return currentView(await sessionOf(request, request.params.id));
  });

  app.get('/login/:id/events', { schema: { params: Params } }, async (request, reply) => {
    const session = await sessionOf(request, request.params.id);
    // An empty stream would look like a lost one, and the page would reconnect forever.
    if ((await deps.read(session.connectionId)) === null) throw connectionNotFound();
    const afterRevision = lastEventIdOf(request.headers['last-event-id']);
    await limitStreams(session, () => streamStates(reply, deps, session, { afterRevision, closing: closing.signal }));
  });

  app.post(
    '/login/:id/submit',
    { bodyLimit: SUBMIT_BODY_LIMIT, schema: { params: Params, body: SubmitBody } },
    async (request, reply) => {
      const session = await sessionOf(request, request.params.id);
      // The cookie is for one flow: a newer one is not this person's to answer.
      await currentView(session);
      await deps.submit(session.connectionId, omitUndefined(request.body));
      return reply.code(202).send({ accepted: true });
    },
  );

  app.get('/login/:id/picture', { schema: { params: Params } }, async (request, reply) => {
    const session = await sessionOf(request, request.params.id);
    await limitStreams(session, () => streamScreencast(reply, deps, session, closing.signal));
  });

  app.post('/login/:id/hands', { bodyLimit: 16_384, schema: { params: Params, body: InputBody } }, async (request) => {
    return { focus: await deps.sendInput(await sessionOf(request, request.params.id), request.body.actions) };
  });

  async function limitStreams(session: HostedSession, stream: () => Promise<void>): Promise<void> {
    const open = streams.get(session.flowId) ?? 0;
    if (open >= MAX_STREAMS_PER_FLOW) {
      throw new HoldfastError('rate_limited', 'Too many tabs have this login open; close one', {
        retryAfterSeconds: 5,
      });
    }
    streams.set(session.flowId, open + 1);
    try {
      await stream();
    } finally {
      const left = (streams.get(session.flowId) ?? 1) - 1;
      if (left > 0) streams.set(session.flowId, left);
      else streams.delete(session.flowId);
    }
  }

  async function sessionOf(request: FastifyRequest, id: string): Promise<HostedSession> {
    requireConnectionId(id);
    requireSameOrigin(request, deps.publicUrl);
    const jwt = cookie.read(request, id);
    const session = jwt === null ? null : await deps.verify(jwt);
    if (session === null || session.connectionId !== id || session.expiresAt <= Date.now()) {
      throw new HoldfastError(
        'unauthorized',
        'This browser has no session for the login, or it has expired; open the link again',
      );
    }
    request.auditConnection = id;
    return session;
  }

  async function currentView({ connectionId, flowId }: Omit<HostedSession, 'expiresAt'>): Promise<FlowView> {
    const state = await deps.read(connectionId);
    if (state === null) throw connectionNotFound();
    const view = toFlowView(state, flowId, new Date());
    if (view === null) throw new HoldfastError('gone', 'A newer login has replaced this one; open the newer link');
    return view;
  }
}

function requireConnectionId(id: string): string {
  if (!isConnectionId(id)) throw connectionNotFound();
  return id;
}

function connectionNotFound(): HoldfastError {
  return new HoldfastError('not_found', 'Connection not found; ask for a new link');
}

function firstString(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : null;
}
