import { LinkSignIn, OrganizationSwitch, Session } from '../../contract/people.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { errorResponses } from '../response-schemas.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { consoleTokenOf } from './console-cookie.ts';
import { beginSession, consoleCallerOf, currentSession, presentSession } from './console-session.ts';
import type { SignInLimits } from './sign-in-limits.ts';

const tags = ['session'];

/** Joining an organization by invitation, and switching between organizations. */
export function registerOrganizations(app: ApiServer, parts: ApiParts, limits: SignInLimits): void {
  acceptInvitation(app, parts, limits);
  switchOrganization(app, parts);
}

/**
 * `POST /session/invitation`: accepts an invitation and signs in. If the address has an account, the caller must be signed in to
 * it: otherwise the inviter could sign in as that person.
 */
function acceptInvitation(app: ApiServer, parts: ApiParts, limits: SignInLimits): void {
  const { store, settings } = parts;
  app.route({
    method: 'POST',
    url: '/session/invitation',
    config: { access: 'public', returnsSecret: true },
    schema: {
      operationId: 'acceptInvitation',
      security: [],
      tags,
      body: LinkSignIn,
      response: { 200: Session, ...errorResponses(401, 403, 410) },
    },
    handler: async (request, reply) => {
      await limits.countAddress(request);
      const { code } = request.body;
      const gone = new HoldfastError('gone', 'This invitation has expired or was already accepted; ask for a new one');
      const invitation = await store.invitations.find(code);
      if (invitation === null) throw gone;
      const { organizationId, email, role } = invitation;
      const user =
        (await store.users.findByEmail(email)) ?? (await store.users.create({ organizationId, email, name: null }));
      if ((await store.memberships.ofUser(user.id)).length > 0) {
        const token = consoleTokenOf(request, settings.publicUrl);
        const session = token === null ? null : await store.userSessions.authenticate(token);
        if (session?.user.id !== user.id)
          throw new HoldfastError('unauthorized', 'Sign in as the invited person, then open the link again');
      }
      if (!(await store.invitations.redeem(code))) throw gone;
      await store.memberships.add(organizationId, user.id, role);
      return beginSession(parts, request, reply, user.id, organizationId);
    },
  });
}

/** `POST /session/organization`: switches the session to another organization of the person. */
function switchOrganization(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/session/organization',
    config: { role: 'viewer' },
    schema: { operationId: 'switchOrganization', tags, body: OrganizationSwitch, response: { 200: Session } },
    handler: async (request) => {
      const { user, session } = consoleCallerOf(request);
      const { id } = request.body;
      const { store } = parts;
      if (!(await store.memberships.ofUser(user.id)).some((one) => one.id === id))
        throw new HoldfastError('not_found', 'Organization not found; list yours with GET /session');
      await store.userSessions.move(session.id, id);
      return presentSession(parts, await currentSession(parts, request));
    },
  });
}
