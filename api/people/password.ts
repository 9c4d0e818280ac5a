import { Secret, TOTP } from 'otpauth';
import {
  Account,
  PasswordConfirm,
  PasswordEnrolment,
  PasswordSet,
  PasswordSignIn,
  Session,
} from '../../contract/people.ts';
import { HoldfastError, invalidField } from '../../contract/errors.ts';
import { FIRST_ADMINISTRATOR_EMAIL } from '../../store/administrator.ts';
import type { PasswordRecord } from '../../store/queries/user-passwords.ts';
import { errorResponses } from '../response-schemas.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import type { ApiParts } from '../parts.ts';
import { hashPassword, isPassword } from './password-hash.ts';
import { beginSession, consoleCallerOf, currentSession, presentSession } from './console-session.ts';
import type { SignInLimits } from './sign-in-limits.ts';

const tags = ['session'];
/** Name shown in authenticator apps. */
const TOTP_ISSUER = 'Holdfast';
const TOTP_PERIOD_S = 30;

/** Passwords with authenticators: sign-in and setup. */
export function registerPasswords(app: ApiServer, parts: ApiParts, limits: SignInLimits): void {
  signInByPassword(app, parts, limits);
  updateAccount(app, parts);
  setPassword(app, parts);
  confirmPassword(app, parts, limits);
}

/** Verifies a password and code, and uses up the code. Neither timing nor result reveals which of them was wrong. */
export async function verifyPassword(
  parts: ApiParts,
  userId: string | null,
  { password, code = '' }: { password: string; code?: string | undefined },
): Promise<boolean> {
  const stored = userId === null ? null : await parts.store.userPasswords.find(userId);
  const isRight = await isPassword(password, stored?.hash ?? null);
  return isRight && stored !== null && userId !== null && (await consumeTotpCode(parts, userId, stored, code));
}

/** True for an unused code of the authenticator, at most one period off. */
async function consumeTotpCode(
  { store, clock }: ApiParts,
  userId: string,
  { totpSecret }: PasswordRecord,
  code: string,
): Promise<boolean> {
  const timestamp = clock().getTime();
  const delta = totpOf(totpSecret).validate({ token: code, timestamp, window: 1 });
  if (delta === null) return false;
  return store.totpUses.claim(userId, Math.floor(timestamp / 1000 / TOTP_PERIOD_S) + delta);
}

function totpOf(secret: string, label = ''): TOTP {
  return new TOTP({ issuer: TOTP_ISSUER, label, secret: Secret.fromBase32(secret), period: TOTP_PERIOD_S });
}

/** `POST /session/password`: signs in with a password and authenticator code. All rejections read the same. */
function signInByPassword(app: ApiServer, parts: ApiParts, limits: SignInLimits): void {
  app.route({
    method: 'POST',
    url: '/session/password',
    config: { access: 'public', returnsSecret: true },
    schema: {
      operationId: 'signInByPassword',
      security: [],
      tags,
      body: PasswordSignIn,
      response: { 200: Session, ...errorResponses(401, 403) },
    },
    handler: async (request, reply) => {
      const { email, password, code } = request.body;
      await limits.countAddress(request);
      await limits.countAccount(email);
      const user = await parts.store.users.findByEmail(email);
      if (!(await verifyPassword(parts, user?.id ?? null, { password, code })) || user === null) {
        const [organization] = user === null ? [] : await parts.store.memberships.ofUser(user.id);
        if (user !== null && organization !== undefined) {
          const scope = { organizationId: organization.id, projectId: null };
          request.auditPrincipal = { scope, strategy: 'dashboard', userId: user.id, email };
        }
        throw new HoldfastError(
          'unauthorized',
          'Email address, password or code is wrong, or the code was already used; try again',
        );
      }
      return beginSession(parts, request, reply, user.id);
    },
  });
}

/** `PATCH /session/account`: changes the name, and the address of the first administrator, who starts without one. */
function updateAccount(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: '/session/account',
    config: { role: 'viewer', needsConfirmation: true },
    schema: { operationId: 'updateAccount', tags, body: Account, response: { 200: Session, ...errorResponses(409) } },
    handler: async (request) => {
      const { user } = consoleCallerOf(request);
      const { email, name } = request.body;
      // Whoever could set any address could impersonate its owner.
      if (email !== undefined && email !== user.email && user.email !== FIRST_ADMINISTRATOR_EMAIL)
        throw invalidField('email', 'cannot be changed; have the new address invited');
      await parts.store.users.update(user.id, omitUndefined({ email, name }));
      return presentSession(parts, await currentSession(parts, request));
    },
  });
}

/** `POST /session/account/password`: proposes a password and authenticator, which take effect once a code is confirmed. */
function setPassword(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/session/account/password',
    config: { role: 'viewer', needsConfirmation: true, returnsSecret: true },
    schema: { operationId: 'setPassword', tags, body: PasswordSet, response: { 200: PasswordEnrolment } },
    handler: async (request) => {
      const { user } = consoleCallerOf(request);
      const { password } = request.body;
      if (password.toLowerCase() === user.email) throw invalidField('password', 'must not be the email address');
      const totpSecret = new Secret({ size: 20 }).base32;
      await parts.store.userPasswords.setPending(user.id, { hash: await hashPassword(password), totpSecret });
      return { totp_secret: totpSecret, totp_url: totpOf(totpSecret, user.email).toString() };
    },
  });
}

/** `POST /session/account/password/confirm`: confirms the first code. The password takes effect, and other sessions end. */
function confirmPassword(app: ApiServer, parts: ApiParts, limits: SignInLimits): void {
  app.route({
    method: 'POST',
    url: '/session/account/password/confirm',
    config: { role: 'viewer', needsConfirmation: true },
    schema: { operationId: 'confirmPassword', tags, body: PasswordConfirm, response: { 200: Session } },
    handler: async (request) => {
      const { user, session } = consoleCallerOf(request);
      await limits.countAccount(user.id);
      const proposed = await parts.store.userPasswords.findPending(user.id);
      if (proposed === null) throw new HoldfastError('bad_request', 'Set a password first');
      if (!(await consumeTotpCode(parts, user.id, proposed, request.body.code)))
        throw invalidField('code', 'is not the current code of the authenticator; enter the next one');
      await parts.store.userPasswords.activatePending(user.id);
      await parts.store.userSessions.endOthers(user.id, session.id);
      return presentSession(parts, await currentSession(parts, request));
    },
  });
}
