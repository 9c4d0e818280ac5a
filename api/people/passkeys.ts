import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { z } from 'zod';
import {
  CHALLENGE_LIFETIME_MS,
  Confirmation,
  Passkey,
  PasskeyAdd,
  PasskeyAssertion,
  Session,
} from '../../contract/people.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { requireFound } from '../nullish.ts';
import type { UserPasskeyRecord } from '../../store/queries/user-passkeys.ts';
import { IdParams, NoContent, errorResponses } from '../response-schemas.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { verifyPassword } from './password.ts';
import { beginSession, consoleCallerOf, currentSession, presentSession } from './console-session.ts';
import type { SignInLimits } from './sign-in-limits.ts';

const tags = ['session'];
/** Options for `navigator.credentials`, in WebAuthn's JSON form. */
const Options = z.record(z.string(), z.unknown());

/** Passkeys: sign-in, registration, and confirmation of identity. */
export function registerPasskeys(app: ApiServer, parts: ApiParts, limits: SignInLimits): void {
  signInByPasskey(app, parts, limits);
  addPasskey(app, parts);
  listPasskeys(app, parts);
  deletePasskey(app, parts);
  confirmSession(app, parts, limits);
}

/** `POST /session/passkey/options`, `POST /session/passkey`: signs in with a passkey, which identifies its person. */
function signInByPasskey(app: ApiServer, parts: ApiParts, limits: SignInLimits): void {
  app.route({
    method: 'POST',
    url: '/session/passkey/options',
    config: { access: 'public' },
    schema: {
      operationId: 'beginPasskeySignIn',
      security: [],
      tags,
      response: { 200: Options, ...errorResponses(403) },
    },
    handler: async (request) => {
      await limits.countAddress(request);
      const challenge = await parts.store.signInCodes.create('passkey_challenge', {
        userId: null,
        lifetimeMs: CHALLENGE_LIFETIME_MS,
      });
      const options = await generateAuthenticationOptions({
        rpID: relyingParty(parts).rpID,
        challenge: bytesOf(challenge),
        timeout: CHALLENGE_LIFETIME_MS,
        userVerification: 'required',
      });
      return { ...options };
    },
  });
  app.route({
    method: 'POST',
    url: '/session/passkey',
    config: { access: 'public', returnsSecret: true },
    schema: {
      operationId: 'signInByPasskey',
      security: [],
      tags,
      body: PasskeyAssertion,
      response: { 200: Session, ...errorResponses(401, 403) },
    },
    handler: async (request, reply) => {
      await limits.countAddress(request);
      const { userId } = await verifyPasskey(parts, request.body);
      return beginSession(parts, request, reply, userId);
    },
  });
}

/** `POST /session/account/passkeys/options`, `POST /session/account/passkeys`: registers a passkey. */
function addPasskey(app: ApiServer, parts: ApiParts): void {
  const { store } = parts;
  app.route({
    method: 'POST',
    url: '/session/account/passkeys/options',
    config: { role: 'viewer', needsConfirmation: true },
    schema: { operationId: 'beginPasskeyRegistration', tags, response: { 200: Options } },
    handler: async (request) => {
      const { user } = consoleCallerOf(request);
      const lifetimeMs = CHALLENGE_LIFETIME_MS;
      const challenge = await store.signInCodes.create('passkey_registration', { userId: user.id, lifetimeMs });
      const options = await generateRegistrationOptions({
        rpName: 'Holdfast',
        rpID: relyingParty(parts).rpID,
        userName: user.email,
        userDisplayName: user.name ?? user.email,
        userID: new Uint8Array(Buffer.from(user.id)),
        challenge: bytesOf(challenge),
        timeout: CHALLENGE_LIFETIME_MS,
        attestationType: 'none',
        excludeCredentials: (await store.userPasskeys.list(user.id)).map(({ id, transports }) => ({ id, transports })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      return { ...options };
    },
  });
  app.route({
    method: 'POST',
    url: '/session/account/passkeys',
    config: { role: 'viewer', needsConfirmation: true },
    schema: {
      operationId: 'addPasskey',
      tags,
      body: PasskeyAdd,
      response: { 201: Passkey, ...errorResponses(409) },
    },
    handler: async (request, reply) => {
      const { user } = consoleCallerOf(request);
      const { name, response } = request.body;
      const { origin, rpID } = relyingParty(parts);
      const verified = await verifyRegistrationResponse({
        response: { ...response, clientExtensionResults: {} },
        expectedChallenge: async (challenge) =>
          (await store.signInCodes.redeem('passkey_registration', challenge))?.userId === user.id,
        expectedOrigin: origin,
        expectedRPID: rpID,
        requireUserVerification: true,
      }).catch(() => null);
      if (verified?.verified !== true)
        throw new HoldfastError('bad_request', 'The passkey was not accepted; start its registration again');
      const { id, publicKey, counter } = verified.registrationInfo.credential;
      const transports = response.response.transports;
      await store.userPasskeys.add({
        id,
        userId: user.id,
        name,
        publicKey: new Uint8Array(publicKey),
        counter,
        transports,
      });
      const added = (await store.userPasskeys.list(user.id)).find((one) => one.id === id);
      return reply.code(201).send(presentPasskey(requireFound(added, 'The passkey was removed meanwhile')));
    },
  });
}

/** `GET /session/account/passkeys`: the caller's passkeys. */
function listPasskeys(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/session/account/passkeys',
    schema: { operationId: 'listPasskeys', tags, response: { 200: z.array(Passkey) } },
    handler: async (request) => (await store.userPasskeys.list(consoleCallerOf(request).user.id)).map(presentPasskey),
  });
}

/** `DELETE /session/account/passkeys/{id}`. */
function deletePasskey(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/session/account/passkeys/:id',
    config: { role: 'viewer', needsConfirmation: true },
    schema: { operationId: 'deletePasskey', tags, params: IdParams, response: { 204: NoContent } },
    handler: async (request, reply) => {
      const { user } = consoleCallerOf(request);
      requireFound(
        await store.userPasskeys.remove(user.id, request.params.id),
        'Passkey not found; list your passkeys',
      );
      return reply.code(204).send();
    },
  });
}

/** `POST /session/confirm`: confirms the caller's identity, with password and code or a passkey. */
function confirmSession(app: ApiServer, parts: ApiParts, limits: SignInLimits): void {
  app.route({
    method: 'POST',
    url: '/session/confirm',
    config: { role: 'viewer' },
    schema: { operationId: 'confirmSession', tags, body: Confirmation, response: { 200: Session } },
    handler: async (request) => {
      const { user, session } = consoleCallerOf(request);
      await limits.countAccount(user.id);
      const { body } = request;
      const isProven =
        'passkey' in body
          ? (await verifyPasskey(parts, body.passkey)).userId === user.id
          : await verifyPassword(parts, user.id, body);
      if (!isProven) throw new HoldfastError('forbidden', 'Identity not confirmed; try again');
      await parts.store.userSessions.confirm(session.id);
      return presentSession(parts, await currentSession(parts, request));
    },
  });
}

/** Verifies a passkey's signature of one of our challenges, which is used up. Throws `unauthorized`. */
async function verifyPasskey({ store, settings }: ApiParts, response: PasskeyAssertion): Promise<UserPasskeyRecord> {
  const passkey = await store.userPasskeys.find(response.id);
  const { origin, rpID } = relyingParty({ settings });
  const verified =
    passkey === null
      ? null
      : await verifyAuthenticationResponse({
          response: { ...response, clientExtensionResults: {} },
          expectedChallenge: async (challenge) =>
            (await store.signInCodes.redeem('passkey_challenge', challenge)) !== null,
          expectedOrigin: origin,
          expectedRPID: rpID,
          credential: {
            id: passkey.id,
            publicKey: passkey.publicKey,
            counter: passkey.counter,
            transports: passkey.transports,
          },
          requireUserVerification: true,
        }).catch(() => null);
  if (passkey === null || verified?.verified !== true)
    throw new HoldfastError('unauthorized', 'The passkey was not accepted; try again, or sign in another way');
  await store.userPasskeys.recordUse(passkey.id, verified.authenticationInfo.newCounter);
  return passkey;
}

/** The relying party: the host of the public URL. */
function relyingParty({ settings }: Pick<ApiParts, 'settings'>): { origin: string; rpID: string } {
  const { origin, hostname } = new URL(settings.publicUrl);
  return { origin, rpID: hostname };
}

function bytesOf(challenge: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(challenge, 'base64url'));
}

function presentPasskey({ id, name, createdAt, lastUsedAt }: UserPasskeyRecord): Passkey {
  return { id, name, created_at: createdAt.toISOString(), last_used_at: lastUsedAt?.toISOString() ?? null };
}
