import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONFIRMATION_LIFETIME_MS, type Session } from '../../contract/people.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { UserSessionRecord } from '../../store/queries/user-sessions.ts';
import { callerOfSession } from '../authentication.ts';
import { callerOf, type UserCaller } from '../caller.ts';
import type { ApiParts } from '../parts.ts';
import { consoleTokenOf, setConsoleCookie } from './console-cookie.ts';

/** A person signed in to the console. */
export type ConsoleCaller = UserCaller & { session: NonNullable<UserCaller['session']> };

/** The caller of a console-only route. Throws `forbidden` for API keys and OAuth clients. */
export function consoleCallerOf(request: FastifyRequest): ConsoleCaller {
  const caller = callerOf(request);
  if (caller.kind === 'user' && caller.session !== null) return { ...caller, session: caller.session };
  throw new HoldfastError('forbidden', 'Only people signed in to the console can do this; sign in there');
}

/** The response of `GET /session`. */
export async function presentSession({ store, settings }: ApiParts, session: UserSessionRecord): Promise<Session> {
  const [user, organizations, passkeys] = await Promise.all([
    store.users.find(session.user.id),
    store.memberships.ofUser(session.user.id),
    store.userPasskeys.list(session.user.id),
  ]);
  const { id, name = '' } = organizations.find((one) => one.id === session.organizationId) ?? {
    id: session.organizationId,
  };
  return {
    user: session.user,
    role: session.role,
    organization: { id, name },
    organizations,
    has_password: user?.hasPassword ?? false,
    passkeys: passkeys.length,
    has_oidc: settings.oidc !== undefined && (user?.hasOidcSubject ?? false),
    confirmed_until:
      session.confirmedAt === null
        ? null
        : new Date(session.confirmedAt.getTime() + CONFIRMATION_LIFETIME_MS).toISOString(),
    expires_at: session.expiresAt.toISOString(),
  };
}

/** The caller's current session. Throws `unauthorized` if it has ended. */
export async function currentSession(parts: ApiParts, request: FastifyRequest): Promise<UserSessionRecord> {
  const token = consoleTokenOf(request, parts.settings.publicUrl);
  const session = token === null ? null : await parts.store.userSessions.authenticate(token);
  if (session === null) throw new HoldfastError('unauthorized', 'The session has ended; sign in again');
  return session;
}

/**
 * Signs in an authenticated person: in the given organization if they belong to it, else in their first one. Throws `forbidden`
 * if they belong to none.
 */
export async function beginSession(
  parts: ApiParts,
  request: FastifyRequest,
  reply: FastifyReply,
  userId: string,
  organizationId?: string,
): Promise<Session> {
  const organizations = await parts.store.memberships.ofUser(userId);
  const organization = organizations.find(({ id }) => id === organizationId) ?? organizations[0];
  if (organization === undefined) {
    throw new HoldfastError(
      'forbidden',
      'You are no longer a member of any organization; ask an owner for an invitation',
    );
  }
  const { token, session } = await parts.store.userSessions.begin(userId, organization.id);
  // For the audit log.
  request.caller = await callerOfSession(parts, session, {});
  setConsoleCookie(reply, parts.settings.publicUrl, token);
  return presentSession(parts, session);
}
