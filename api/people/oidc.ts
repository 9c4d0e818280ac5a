import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { OIDC_ROUND_TRIP_MS, OidcConfirmation, OidcConfirmationUrl, SignInMethods } from '../../contract/people.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { NoContent, errorResponses } from '../response-schemas.ts';
import { callerOfSession } from '../authentication.ts';
import type { ApiServer } from '../context.ts';
import { readCookie, writeCookie, type HttpOnlyCookie } from '../cookies.ts';
import type { ApiParts } from '../parts.ts';
import { showErrorPages } from '../html/error-pages.ts';
import { consoleTokenOf } from './console-cookie.ts';
import { createOidcClient, type OidcClient, type OidcIdentity } from './oidc-client.ts';
import { oidcRefusalPage } from './oidc-pages.ts';
import { oidcRefusal } from './oidc-refusals.ts';
import { membershipsBy, type OidcRule } from './oidc-rules.ts';
import { beginSession, consoleCallerOf } from './session-answers.ts';
import type { SignInLimits } from './sign-in-limits.ts';

const tags = ['session'];
const CALLBACK = '/session/oidc/callback';
/** How far the provider's clock may be behind ours, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;

/** What a way through the provider is to confirm; null where it signs in. */
const Confirms = z
  .object({ sessionId: z.string(), returnTo: z.string(), begunAt: z.number().describe('Epoch milliseconds') })
  .nullable();
type Confirms = z.infer<typeof Confirms>;

/** The provider of an installation, and what ties a way through it to the browser that began it. */
interface Ways {
  clientOf: () => OidcClient;
  /** Begins a way; answers where it leads. */
  begin: (reply: FastifyReply, confirms: Confirms) => Promise<string>;
  /** Ends it: the token that began it, which is used up, and what it confirms. Throws `gone`. */
  end: (request: FastifyRequest, reply: FastifyReply) => Promise<{ token: string; confirms: Confirms }>;
}

/** Signing in by an OpenID provider, and confirming by it who one is: both lead there and back to one address. */
export function registerOidc(service: ApiServer, parts: ApiParts, limits: SignInLimits): void {
  const ways = createWays(parts);
  service.route({
    method: 'GET',
    url: '/session/methods',
    config: { access: 'public' },
    schema: { operationId: 'signInMethods', security: [], tags, response: { 200: SignInMethods } },
    handler: () => ({
      link: true as const,
      password: true as const,
      passkey: true as const,
      oidc: parts.settings.oidc !== undefined,
    }),
  });
  beginConfirmation(service, parts, limits, ways);
  void service.register((app: ApiServer, _options, done) => {
    const returnPaths = new WeakMap<FastifyRequest, string>();
    showErrorPages(app, (refusal, request, language) =>
      oidcRefusalPage(refusal, language, returnPaths.get(request) ?? null),
    );
    beginSignIn(app, limits, ways);
    comeBack(app, parts, limits, { ...ways, returnPaths });
    done();
  });
}

function createWays({ settings: { oidc, publicUrl }, store, clock }: ApiParts): Ways {
  const client = oidc === undefined ? null : createOidcClient(oidc, `${publicUrl}${CALLBACK}`, clock);
  const cookie: HttpOnlyCookie = { name: 'holdfast_oidc', sameSite: 'Lax', publicUrl };
  const clientOf = (): OidcClient => {
    if (client === null) throw oidcRefusal('oidc_not_configured');
    return client;
  };
  return {
    clientOf,
    begin: async (reply, confirms) => {
      // What the browser keeps ties the way back to it; it is good once.
      const code = { userId: null, data: confirms, lifetimeMs: OIDC_ROUND_TRIP_MS };
      const token = await store.signInCodes.create('oidc', code);
      const url = await clientOf().authorizationUrl(token, confirms !== null);
      writeCookie(reply, cookie, token, OIDC_ROUND_TRIP_MS / 1000);
      return url;
    },
    end: async (request, reply) => {
      const token = readCookie(request, cookie);
      const redeemed = token === null ? null : await store.signInCodes.redeem('oidc', token);
      if (token === null || redeemed === null) throw oidcRefusal('oidc_expired');
      writeCookie(reply, cookie, '', 0);
      return { token, confirms: Confirms.parse(redeemed.data) };
    },
  };
}

/** `GET /session/oidc`: leads to the provider. */
function beginSignIn(app: ApiServer, limits: SignInLimits, { clientOf, begin }: Ways): void {
  app.route({
    method: 'GET',
    url: '/session/oidc',
    config: { access: 'public' },
    schema: {
      operationId: 'beginOidcSignIn',
      security: [],
      tags,
      response: { 302: NoContent, ...errorResponses(404) },
    },
    handler: async (request, reply) => {
      clientOf();
      await limits.countAddress(request);
      return reply.redirect(await begin(reply, null), 302);
    },
  });
}

/** `POST /session/oidc/confirm`: where the provider asks the caller once more who they are. */
function beginConfirmation(app: ApiServer, { clock }: ApiParts, limits: SignInLimits, { clientOf, begin }: Ways): void {
  app.route({
    method: 'POST',
    url: '/session/oidc/confirm',
    config: { role: 'viewer' },
    schema: {
      operationId: 'beginOidcConfirmation',
      tags,
      body: OidcConfirmation,
      response: { 200: OidcConfirmationUrl, ...errorResponses(404) },
    },
    handler: async (request, reply) => {
      const { session } = consoleCallerOf(request);
      clientOf();
      await limits.countAddress(request);
      const returnTo = request.body.return_to;
      return { url: await begin(reply, { sessionId: session.id, returnTo, begunAt: clock().getTime() }) };
    },
  });
}

/** `GET /session/oidc/callback`: back from the provider. */
function comeBack(
  app: ApiServer,
  parts: ApiParts,
  limits: SignInLimits,
  { clientOf, end, returnPaths }: Ways & { returnPaths: WeakMap<FastifyRequest, string> },
): void {
  const { oidc, publicUrl } = parts.settings;
  app.route({
    method: 'GET',
    // It uses up what the provider sent.
    exposeHeadRoute: false,
    url: CALLBACK,
    config: { access: 'public', returnsSecret: true },
    schema: {
      operationId: 'endOidcSignIn',
      security: [],
      tags,
      querystring: z.looseObject({ code: z.string().optional(), state: z.string().optional() }),
      response: { 302: NoContent, ...errorResponses(403, 404, 410) },
    },
    handler: async (request, reply) => {
      const client = clientOf();
      await limits.countAddress(request);
      const { token, confirms } = await end(request, reply);
      if (confirms !== null) returnPaths.set(request, confirms.returnTo);
      const identity = await client.identity(token, new URL(request.url, publicUrl));
      if (confirms !== null) {
        await confirmBy(parts, request, identity, confirms);
        return reply.redirect(`${publicUrl}${confirms.returnTo}`, 302);
      }
      await beginSession(parts, request, reply, await personOf(parts, oidc?.rules ?? [], identity));
      return reply.redirect(`${publicUrl}/console`, 302);
    },
  });
}

/**
 * Notes that the person of a session has proved anew who they are: as themselves, and after they were asked to. A provider may
 * overlook that it is to ask, or be asked without it by who has changed the address: only the time that it has signed counts.
 */
async function confirmBy(
  parts: ApiParts,
  request: FastifyRequest,
  { subject, authenticatedAt }: OidcIdentity,
  { sessionId, begunAt }: NonNullable<Confirms>,
): Promise<void> {
  const { store, settings } = parts;
  const sessionToken = consoleTokenOf(request, settings.publicUrl);
  const session = sessionToken === null ? null : await store.userSessions.authenticate(sessionToken);
  if (session === null || session.id !== sessionId) throw oidcRefusal('oidc_session_over');
  // For the row of the audit log.
  request.caller = await callerOfSession(parts, session, {});
  const person = await store.users.findByOidcSubject(subject);
  if (person?.id !== session.user.id) throw oidcRefusal('oidc_other_person');
  if (authenticatedAt === null || authenticatedAt.getTime() < begunAt - CLOCK_SKEW_MS)
    throw oidcRefusal('oidc_old_sign_in');
  await store.userSessions.confirm(session.id);
}

/**
 * The id of the person whom a provider names, with the memberships and roles that the rules give. Throws `forbidden` for who is
 * neither known here nor let in by a rule.
 */
async function personOf({ store }: ApiParts, rules: readonly OidcRule[], identity: OidcIdentity): Promise<string> {
  const { subject, email, name } = identity;
  const granted = membershipsBy(rules, identity);
  for (const id of granted.keys()) if ((await store.organizations.find(id)) === null) granted.delete(id);
  const [organizationId] = granted.keys();
  const known = (await store.users.findByOidcSubject(subject)) ?? (await store.users.findByEmail(email));
  if (known === null && organizationId === undefined) throw oidcRefusal('oidc_no_member');
  const user = known ?? (await store.users.create({ organizationId: organizationId ?? '', email, name }));
  // A verified address that had no account at a provider yet, or the same one as ever.
  if (!(await store.users.linkOidcSubject(user.id, subject))) throw oidcRefusal('oidc_other_account');
  for (const [organization, role] of granted) {
    await store.memberships.add(organization, user.id, role);
    await store.memberships.setRole(organization, user.id, role).catch((error: unknown) => {
      // The last owner stays one, whatever the groups say.
      if (!(error instanceof HoldfastError) || error.code !== 'operation_failed') throw error;
    });
  }
  return user.id;
}
