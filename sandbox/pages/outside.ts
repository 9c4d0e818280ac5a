import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BASE_STYLES, document, html, type Html } from '../markup.ts';
import { checkTotp } from '../second-factor.ts';
import type { SentMessage } from '../deliver.ts';
import type { SiteState } from '../state.ts';
import { findUser } from '../users.ts';
import { queried, beginPending, PENDING_COOKIE, pendingOf, posted, show, signIn } from '../visit.ts';
import { passwordStep } from './password-step.ts';

const PUSH = '/login/push';
const MAGIC = '/login/magic-link';

/** Password, then an approval on the user's phone (`POST /test/approve`). */
export function pushLogin(app: FastifyInstance, state: SiteState): void {
  passwordStep(app, state, { path: PUSH, title: 'Sign in', next: `${PUSH}/wait` });
  waitingPage(
    app,
    state,
    PUSH,
    html`<h1>Approve the sign-in on your phone</h1>
      <p>We sent a notification to your phone. Open it and tap <b>Yes</b> to continue.</p>
      <p><a href="/login/totp">Use a code from your authenticator app instead</a></p>`,
  );
}

const PUSH_CODE = '/login/push-code';

/** The same approval, on a page that also accepts an authenticator code. */
export function pushBesideCodeLogin(app: FastifyInstance, state: SiteState): void {
  passwordStep(app, state, { path: PUSH_CODE, title: 'Sign in', next: `${PUSH_CODE}/wait` });
  waitingPage(
    app,
    state,
    PUSH_CODE,
    html`<h1>Approve the sign-in on your phone</h1>
      <p>We sent a notification to your phone. Open it and tap <b>Yes</b> to continue.</p>
      <form method="post" action="${PUSH_CODE}/wait">
        <label for="otp">Or enter the code from your authenticator app</label>
        <input id="otp" name="otp" inputmode="numeric" autocomplete="one-time-code" />
        <button type="submit">Verify</button>
      </form>`,
  );

  app.post(`${PUSH_CODE}/wait`, (request, reply) => {
    const pending = pendingOf(state, request, PUSH_CODE);
    if (!pending) return reply.redirect(PUSH_CODE, 303);
    const right = checkTotp(state, pending.user, posted(request, 'otp'));
    state.count(pending.user, PUSH_CODE, 'code', right);
    if (!right) return reply.redirect(`${PUSH_CODE}/wait`, 303);
    return signIn(state, request, reply, pending.user, 'persistent');
  });
}

/** The mail with the sign-in link among other links, as real sites send it. */
function mailOf(origin: string, token: string): SentMessage {
  const link = `${origin}${MAGIC}/open?token=${token}`;
  const other = (path: string, words: string): string => `<a href="${origin}${path}?id=${token}">${words}</a>`;
  return {
    text: `Log in to the sandbox\n\nClick this link to log in:\n${link}\n\nNot you? Report it: ${origin}/report?id=${token}\n`,
    html: `<h1>Log in to the sandbox</h1><p><a href="${link}">Log in</a></p><p>The link works once, for 10 minutes.</p>
      <p>${other('/report', 'It was not me')} · ${other('/unsubscribe', 'Unsubscribe')} · ${other('/help', 'Help')} ·
      <a href="https://click.mailer.test/ls/click?upn=${token}">Log in</a></p>`,
  };
}

/** Only an e-mail address, to which a link is mailed (see `GET /test/email?user=`). */
export function magicLinkLogin(app: FastifyInstance, state: SiteState): void {
  app.get(MAGIC, (_request, reply) =>
    show(
      reply,
      document(
        'Log in with email',
        BASE_STYLES,
        html`<main>
          <h1>Log in</h1>
          <p>We will email you a link. No password needed.</p>
          <form method="post" action="${MAGIC}">
            <label for="email">Email</label><input id="email" type="email" name="email" required /><button>
              Send link
            </button>
          </form>
        </main>`,
      ),
    ),
  );

  app.post(MAGIC, (request, reply) => {
    const user = findUser(posted(request, 'email'));
    state.count(user?.username ?? posted(request, 'email'), MAGIC, 'identifier', undefined);
    // Sites that do not reveal which accounts exist show the same page to everyone.
    const id = beginPending(state, reply, user?.username ?? '', MAGIC, false);
    if (user)
      state.messages.mailLink(user.username, id, (token) => mailOf(`${request.protocol}://${request.host}`, token));
    return reply.redirect(`${MAGIC}/wait`, 303);
  });

  waitingPage(
    app,
    state,
    MAGIC,
    html`<h1>Check your email</h1>
      <p>We sent you a link to log in. Click the link in the email to continue; you can close this page then.</p>
      <form method="get" action="${MAGIC}"><button>Use another address</button></form>`,
  );

  app.get(`${MAGIC}/open`, (request, reply) => {
    const token = queried(request, 'token');
    const isElsewhere = state.messages.pendingLoginOf(token) !== request.cookies[PENDING_COOKIE];
    if (state.linkOpens === 'here' && state.messages.pendingLoginOf(token) !== undefined && isElsewhere) {
      const words = 'Open this link in the browser in which you asked for it.';
      return show(reply, document('Log in', BASE_STYLES, html`<main><p>${words}</p></main>`), 403);
    }
    if (state.linkPress === 'button' && state.messages.pendingLoginOf(token) !== undefined)
      return show(reply, pressPage(token));
    return redeem(request, reply, token);
  });

  app.post(`${MAGIC}/open`, (request, reply) => redeem(request, reply, posted(request, 'token')));

  function redeem(request: FastifyRequest, reply: FastifyReply, token: string): FastifyReply {
    const opened = state.pending(state.messages.redeemLink(token));
    if (opened && state.linkOpens === 'here') {
      state.count(opened.user, MAGIC, 'code', true);
      return signIn(state, request, reply, opened.user, 'persistent');
    }
    if (opened) opened.approved = true;
    const says = opened ? 'You are logged in on the other page.' : 'This link has expired.';
    return show(reply, document('Log in', BASE_STYLES, html`<main><p>${says}</p></main>`), opened ? 200 : 410);
  }
}

/** Requires a button press, so that link scanners do not sign in. */
function pressPage(token: string): string {
  return document(
    'Log in',
    BASE_STYLES,
    html`<header><a href="/">Sandbox</a></header>
      <main>
        <h1>Almost there</h1>
        <p>You asked to log in to the sandbox.</p>
        <form method="post" action="${MAGIC}/open">
          <input type="hidden" name="token" value="${token}" />
          <button>Click to continue signing in</button>
        </form>
        <p><a href="/help/password">Did you not ask for this?</a></p>
      </main>`,
  );
}

/** Polls twice a second for the approval, then continues. */
function waitingPage(app: FastifyInstance, state: SiteState, path: string, words: Html): void {
  app.get(`${path}/wait`, (request, reply) => {
    const pending = pendingOf(state, request, path);
    if (!pending) return reply.redirect(path, 303);
    if (pending.approved && pending.user) {
      state.count(pending.user, path, 'code', true);
      return signIn(state, request, reply, pending.user, 'persistent');
    }
    return show(
      reply,
      document(
        'One more step',
        BASE_STYLES,
        html`<main>${words}</main>
          <script>
            // One question at a time: a second reload would break off the first, which has signed in.
            const look = async () => {
              const answer = await fetch('${path}/status')
                .then((got) => got.json())
                .catch(() => null);
              if (answer?.approved) location.reload();
              else setTimeout(look, 500);
            };
            setTimeout(look, 500);
          </script>`,
      ),
    );
  });

  app.get(`${path}/status`, (request) => ({
    approved: state.pending(request.cookies[PENDING_COOKIE])?.approved ?? false,
  }));
}
