import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { BASE_STYLES, document, html, nothing } from '../markup.ts';
import type { SiteState } from '../state.ts';
import { beginPending, checkPassword, posted, sessionCookie, SESSION_COOKIE, show, visitor } from '../visit.ts';
import { smsCodePage } from './codes.ts';

const ALONE = '/login/passkey';
const OFFERING = '/login/passkey-offer';
const CREATE = `${OFFERING}/create`;
const CHALLENGE_COOKIE = 'sandbox_challenge';

/** A browser's response to a ceremony. The verifying library validates it completely. */
const Answer = z.object({
  id: z.string(),
  rawId: z.string(),
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}),
});
const SignInAnswer = Answer.extend({
  response: z.object({
    clientDataJSON: z.string(),
    authenticatorData: z.string(),
    signature: z.string(),
  }),
});
const CreationAnswer = Answer.extend({
  response: z.object({ clientDataJSON: z.string(), attestationObject: z.string() }),
});

/**
 * Passkey logins: a page for passkeys only, and one with autofill in its user name field. The latter also accepts a password and a
 * text message code, and then offers to create a passkey.
 */
export function passkeyLogins(app: FastifyInstance, state: SiteState): void {
  app.get(ALONE, (_request, reply) => show(reply, alonePage()));
  app.get(OFFERING, (_request, reply) => show(reply, formPage('')));
  app.post(OFFERING, (request, reply) => {
    const user = checkPassword(state, OFFERING, posted(request, 'username'), posted(request, 'password'), false);
    if (!user) return show(reply, formPage('Incorrect username or password.'), 401);
    beginPending(state, reply, user.username, OFFERING, true);
    state.messages.sendCode('sms', user.username);
    return reply.redirect(`${OFFERING}/code`, 303);
  });
  smsCodePage(app, state, OFFERING, CREATE);
  app.get(CREATE, (request, reply) => {
    const user = visitor(state, request);
    if (!user || state.passkeysOf(user.username).length > 0) return reply.redirect('/account', 303);
    return show(reply, offerPage());
  });
  ceremonies(app, state);
}

/** Server side of signing in with a passkey and of creating one. */
function ceremonies(app: FastifyInstance, state: SiteState): void {
  app.post('/api/passkey/sign-in/options', async (request, reply) => {
    const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
    const options = await generateAuthenticationOptions({ rpID: request.hostname, userVerification: 'required' });
    void reply.setCookie(CHALLENGE_COOKIE, state.openChallenge(options.challenge), { path: '/', httpOnly: true });
    return options;
  });

  app.post('/api/passkey/sign-in', async (request, reply) => {
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
    const answer = SignInAnswer.safeParse(request.body);
    const expectedChallenge = state.takeChallenge(request.cookies[CHALLENGE_COOKIE]);
    const passkey = answer.success ? state.passkey(answer.data.id) : undefined;
    if (!answer.success || passkey === undefined || expectedChallenge === undefined)
      return reply.code(401).send({ error: 'This passkey is not known here.' });
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...answer.data, clientExtensionResults: {} },
      expectedChallenge,
      expectedOrigin: originOf(request),
      expectedRPID: request.hostname,
      credential: {
        id: passkey.id,
        publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
        counter: passkey.count,
      },
    }).catch(() => ({ verified: false, authenticationInfo: undefined }));
    if (!verified || authenticationInfo === undefined)
      return reply.code(401).send({ error: 'This passkey was not accepted.' });
    state.savePasskey({ ...passkey, count: authenticationInfo.newCounter });
    void reply.setCookie(SESSION_COOKIE, state.openSession(passkey.user), sessionCookie('persistent'));
    return { next: '/account' };
  });

  app.post('/api/passkey/create/options', async (request, reply) => {
    const user = visitor(state, request);
    if (!user) return reply.code(401).send({ error: 'Sign in first.' });
    const { generateRegistrationOptions } = await import('@simplewebauthn/server');
    const options = await generateRegistrationOptions({
      rpName: 'Sandbox',
      rpID: request.hostname,
      userName: user.email,
      userDisplayName: user.name,
      userID: new Uint8Array(Buffer.from(user.username)),
      attestationType: 'none',
      excludeCredentials: state.passkeysOf(user.username).map(({ id }) => ({ id })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    void reply.setCookie(CHALLENGE_COOKIE, state.openChallenge(options.challenge), { path: '/', httpOnly: true });
    return options;
  });

  app.post('/api/passkey/create', async (request, reply) => {
    const user = visitor(state, request);
    const answer = CreationAnswer.safeParse(request.body);
    const expectedChallenge = state.takeChallenge(request.cookies[CHALLENGE_COOKIE]);
    if (!user || !answer.success || expectedChallenge === undefined)
      return reply.code(400).send({ error: 'Start over.' });
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { ...answer.data, clientExtensionResults: {} },
      expectedChallenge,
      expectedOrigin: originOf(request),
      expectedRPID: request.hostname,
    }).catch(() => ({ verified: false, registrationInfo: undefined }));
    if (!verified || registrationInfo === undefined)
      return reply.code(400).send({ error: 'This passkey was not accepted.' });
    const { id, publicKey, counter } = registrationInfo.credential;
    state.savePasskey({
      id,
      user: user.username,
      publicKey: Buffer.from(publicKey).toString('base64url'),
      count: counter,
    });
    return { next: '/account' };
  });
}

function originOf(request: FastifyRequest): string {
  return `${request.protocol}://${request.host}`;
}

/** Script of the buttons: gets options from the site, calls the authenticator, posts the result. */
const SCRIPT = html`<script>
  const post = async (path, body) => {
    const sent = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body || {}),
    });
    return { ok: sent.ok, body: await sent.json() };
  };
  const say = (text) => {
    document.getElementById('said').textContent = text;
  };
  const finish = async (path, credential) => {
    const { ok, body } = await post(path, credential.toJSON());
    if (ok) location.assign(body.next);
    else say(body.error);
  };
  const signIn = async (mediation) => {
    const { body } = await post('/api/passkey/sign-in/options');
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(body);
    try {
      await finish('/api/passkey/sign-in', await navigator.credentials.get({ publicKey, mediation }));
    } catch (error) {
      say('No passkey was used.');
    }
  };
  const create = async () => {
    const { body } = await post('/api/passkey/create/options');
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(body);
    try {
      await finish('/api/passkey/create', await navigator.credentials.create({ publicKey }));
    } catch (error) {
      say('No passkey was created.');
    }
  };
</script>`;

function alonePage(): string {
  return document(
    'Use your passkey',
    BASE_STYLES,
    html`<main>
        <h1>Use your passkey to sign in</h1>
        <p>Your device will ask for your fingerprint, face or screen lock.</p>
        <p id="said" role="alert"></p>
        <button type="button" onclick="signIn()">Continue with passkey</button>
      </main>
      ${SCRIPT}`,
  );
}

function formPage(error: string): string {
  return document(
    'Sign in - Sandbox',
    BASE_STYLES,
    html`<main>
        <h1>Sign in</h1>
        ${error ? html`<div role="alert">${error}</div>` : nothing}
        <p id="said" role="alert"></p>
        <form method="post" action="${OFFERING}">
          <label>Username <input name="username" autocomplete="username webauthn" /></label>
          <label>Password <input name="password" type="password" autocomplete="current-password" /></label>
          <button type="submit">Sign in</button>
        </form>
      </main>
      ${SCRIPT}
      <script>
        signIn('conditional');
      </script>`,
  );
}

function offerPage(): string {
  return document(
    'Sign in faster next time',
    BASE_STYLES,
    html`<main>
        <h1>Create a passkey</h1>
        <p>With a passkey you sign in with your fingerprint, face or screen lock, without a password.</p>
        <p id="said" role="alert"></p>
        <button type="button" onclick="create()">Create a passkey</button>
        <a href="/account">Not now</a>
      </main>
      ${SCRIPT}`,
  );
}
