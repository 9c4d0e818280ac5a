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
import { oidcErrorPage } from './oidc-error-page.ts';
import { oidcError } from './oidc-errors.ts';
import { grantedRoles, type OidcRule } from './oidc-rules.ts';
import { beginSession, consoleCallerOf } from './console-session.ts';
import type { SignInLimits } from './sign-in-limits.ts';

const tags = ['session'];
const CALLBACK = '/session/oidc/callback';
/** Tolerated clock difference to the provider, in milliseconds. */
const CLOCK_SKEW_MS = 60_000;

/** The confirmation that a round trip is for; null for a sign-in. */
const Confirms = z
  .object({ sessionId: z.string(), returnTo: z.string(), begunAt: z.number().describe('Epoch milliseconds') })
  .nullable();
type Confirms = z.infer<typeof Confirms>;

/** A round trip through the provider, bound to the browser that started it. */
interface RoundTrip {
  requireClient: () => OidcClient;
  /** Starts a round trip; returns the provider's URL. */
  begin: (reply: FastifyReply, confirms: Confirms) => Promise<string>;
  /** Finishes it: returns and uses up its token. Throws `gone`. */
  end: (request: FastifyRequest, reply: FastifyReply) => Promise<{ token: string; confirms: Confirms }>;
}

/** Sign-in and confirmation of identity through an OpenID provider; both share one callback. */
export function registerOidc(service: ApiServer, parts: ApiParts, limits: SignInLimits): void {
  const roundTrip = createRoundTrip(parts);
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
  beginConfirmation(service, parts, limits, roundTrip);
  void service.register((app: ApiServer, _options, done) => {
    const returnPaths = new WeakMap<FastifyRequest, string>();
    showErrorPages(app, (refusal, request, language) =>
      oidcErrorPage(refusal, language, returnPaths.get(request) ?? null),
    );
    beginSignIn(app, limits, roundTrip);
    registerCallback(app, parts, limits, { ...roundTrip, returnPaths });
    done();
  });
}

function createRoundTrip({ settings: { oidc, publicUrl }, store, clock }: ApiParts): RoundTrip {
  const client = oidc === undefined ? null : createOidcClient(oidc, `${publicUrl}${CALLBACK}`, clock);
  const cookie: HttpOnlyCookie = { name: 'holdfast_oidc', sameSite: 'Lax', publicUrl };
  const requireClient = (): OidcClient => {
    if (client === null) throw oidcError('oidc_not_configured');
    return client;
  };
  return {
    requireClient,
    begin: async (reply, confirms) => {
      // The cookie binds the callback to this browser; single use.
      const code = { userId: null, data: confirms, lifetimeMs: OIDC_ROUND_TRIP_MS };
      const token = await store.signInCodes.create('oidc', code);
      const url = await requireClient().authorizationUrl(token, confirms !== null);
      writeCookie(reply, cookie, token, OIDC_ROUND_TRIP_MS / 1000);
      return url;
    },
    end: async (request, reply) => {
      const token = readCookie(request, cookie);
      const redeemed = token === null ? null : await store.signInCodes.redeem('oidc', token);
      if (token === null || redeemed === null) throw oidcError('oidc_expired');
      writeCookie(reply, cookie, '', 0);
      return { token, confirms: Confirms.parse(redeemed.data) };
    },
  };
}

/** `GET /session/oidc`: redirects to the provider. */
function beginSignIn(app: ApiServer, limits: SignInLimits, { requireClient, begin }: RoundTrip): void {
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
      requireClient();
      await limits.countAddress(request);
      return reply.redirect(await begin(reply, null), 302);
    },
  });
}

/** `POST /session/oidc/confirm`: returns the provider's URL for confirming the caller's identity. */
function beginConfirmation(
  app: ApiServer,
  { clock }: ApiParts,
  limits: SignInLimits,
  { requireClient, begin }: RoundTrip,
): void {
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
      requireClient();
      await limits.countAddress(request);
      const returnTo = request.body.return_to;
      return { url: await begin(reply, { sessionId: session.id, returnTo, begunAt: clock().getTime() }) };
    },
  });
}

/** `GET /session/oidc/callback`: return from the provider. */
function registerCallback(
  app: ApiServer,
  parts: ApiParts,
  limits: SignInLimits,
  { requireClient, end, returnPaths }: RoundTrip & { returnPaths: WeakMap<FastifyRequest, string> },
): void {
  const { oidc, publicUrl } = parts.settings;
  app.route({
    method: 'GET',
    // It uses up the provider's code.
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
      const client = requireClient();
      await limits.countAddress(request);
      const { token, confirms } = await end(request, reply);
      if (confirms !== null) returnPaths.set(request, confirms.returnTo);
      const identity = await client.identity(token, new URL(request.url, publicUrl));
      if (confirms !== null) {
        await confirmSession(parts, request, identity, confirms);
        return reply.redirect(`${publicUrl}${confirms.returnTo}`, 302);
      }
      await beginSession(parts, request, reply, await resolvePerson(parts, oidc?.rules ?? [], identity));
      return reply.redirect(`${publicUrl}/console`, 302);
    },
  });
}

/**
 * Records that a session's person has authenticated again: as themselves, and after being asked. A provider may ignore that
 * request, or never see it if someone changed the URL: only the time it signed counts.
 */
async function confirmSession(
  parts: ApiParts,
  request: FastifyRequest,
  { subject, authenticatedAt }: OidcIdentity,
  { sessionId, begunAt }: NonNullable<Confirms>,
): Promise<void> {
  const { store, settings } = parts;
  const sessionToken = consoleTokenOf(request, settings.publicUrl);
  const session = sessionToken === null ? null : await store.userSessions.authenticate(sessionToken);
  if (session === null || session.id !== sessionId) throw oidcError('oidc_session_over');
  // For the audit log.
  request.caller = await callerOfSession(parts, session, {});
  const person = await store.users.findByOidcSubject(subject);
  if (person?.id !== session.user.id) throw oidcError('oidc_other_person');
  if (authenticatedAt === null || authenticatedAt.getTime() < begunAt - CLOCK_SKEW_MS)
    throw oidcError('oidc_old_sign_in');
  await store.userSessions.confirm(session.id);
}

/**
 * Returns the id of the identified person, after applying the memberships and roles that the rules grant. Throws `forbidden` for
 * someone who is neither known here nor granted a role.
 */
async function resolvePerson({ store }: ApiParts, rules: readonly OidcRule[], identity: OidcIdentity): Promise<string> {
  const { subject, email, name } = identity;
  const granted = grantedRoles(rules, identity);
  for (const id of granted.keys()) if ((await store.organizations.find(id)) === null) granted.delete(id);
  const [organizationId] = granted.keys();
  const known = (await store.users.findByOidcSubject(subject)) ?? (await store.users.findByEmail(email));
  if (known === null && organizationId === undefined) throw oidcError('oidc_no_member');
  const user = known ?? (await store.users.create({ organizationId: organizationId ?? '', email, name }));
  // A verified address is linked once; after that, the subject must match.
  if (!(await store.users.linkOidcSubject(user.id, subject))) throw oidcError('oidc_other_account');
  for (const [organization, role] of granted) {
    await store.memberships.add(organization, user.id, role);
    await store.memberships.setRole(organization, user.id, role).catch((error: unknown) => {
      // The last owner keeps the role, whatever the groups say.
      if (!(error instanceof HoldfastError) || error.code !== 'operation_failed') throw error;
    });
  }
  return user.id;
}
