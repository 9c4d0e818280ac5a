import { LinkSignIn, Session } from '../../contract/people.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { NoContent, errorResponses } from '../response-schemas.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { requireJson, requireSameOrigin } from '../cross-origin.ts';
import { clearConsoleCookie } from './console-cookie.ts';
import { registerOidc } from './oidc.ts';
import { registerOrganizations } from './organizations.ts';
import { registerPasskeys } from './passkeys.ts';
import { registerPasswords } from './password.ts';
import { beginSession, consoleCallerOf, currentSession, presentSession } from './console-session.ts';
import { createSignInLimits, type SignInLimits } from './sign-in-limits.ts';

const tags = ['session'];

/**
 * Sign-in and sign-out. Public writes must come from our own pages, too: otherwise another site could sign its visitors in as
 * someone else.
 */
export function registerSession(service: ApiServer, parts: ApiParts): void {
  void service.register((app: ApiServer, _options, done) => {
    const limits = createSignInLimits(parts);
    app.addHook('onRequest', (request, _reply, next) => {
      if (request.routeOptions.config.access === 'public' && request.method !== 'GET') {
        requireSameOrigin(request, parts.settings.publicUrl);
        if (request.headers['content-type'] !== undefined) requireJson(request);
      }
      next();
    });
    retrieveSession(app, parts);
    endSession(app, parts);
    signInByLink(app, parts, limits);
    registerPasswords(app, parts, limits);
    registerPasskeys(app, parts, limits);
    registerOidc(app, parts, limits);
    registerOrganizations(app, parts, limits);
    done();
  });
}

/** `GET /session`: the current session. */
function retrieveSession(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/session',
    schema: { operationId: 'retrieveSession', tags, response: { 200: Session } },
    handler: async (request) => {
      consoleCallerOf(request);
      return presentSession(parts, await currentSession(parts, request));
    },
  });
}

/** `DELETE /session`: signs out. */
function endSession(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/session',
    config: { role: 'viewer' },
    schema: { operationId: 'endSession', tags, response: { 204: NoContent } },
    handler: async (request, reply) => {
      await parts.store.userSessions.end(consoleCallerOf(request).session.id);
      clearConsoleCookie(reply, parts.settings.publicUrl);
      return reply.code(204).send();
    },
  });
}

/** `POST /session/link`: signs in with a single-use link. */
function signInByLink(app: ApiServer, parts: ApiParts, limits: SignInLimits): void {
  app.route({
    method: 'POST',
    url: '/session/link',
    config: { access: 'public', returnsSecret: true },
    schema: {
      operationId: 'signInByLink',
      security: [],
      tags,
      body: LinkSignIn,
      response: { 200: Session, ...errorResponses(403, 410) },
    },
    handler: async (request, reply) => {
      await limits.countAddress(request);
      const redeemed = await parts.store.signInCodes.redeem('link', request.body.code);
      if (redeemed === null || redeemed.userId === null) {
        throw new HoldfastError(
          'gone',
          'This link has expired or was already used; get a new one with `npm run sign-in`',
        );
      }
      return beginSession(parts, request, reply, redeemed.userId);
    },
  });
}
