import type { FastifyInstance } from 'fastify';
import { readDelivery } from './deliver.ts';
import {
  CAPTCHAS_BESIDE,
  type KeyShown,
  type LinkOpens,
  type LinkPress,
  type LockOut,
  type LoginLayout,
  type SiteMode,
  type SiteState,
} from './state.ts';
import { findUser } from './users.ts';
import { queried, posted } from './visit.ts';

const MODES: readonly SiteMode[] = ['ok', 'down', 'nonsense', 'slow'];
const LOCK_OUTS: readonly LockOut[] = ['locked', 'attempts'];
const LINK_OPENS: readonly LinkOpens[] = ['there', 'here'];
const LINK_PRESSES: readonly LinkPress[] = ['none', 'button'];
const LAYOUTS: readonly LoginLayout[] = ['usual', 'renamed', 'steps', 'dead_end'];

const KEYS_SHOWN: readonly KeyShown[] = ['text', 'img', 'canvas', 'svg'];

/**
 * Test controls (JSON, no authentication). They work in every mode of the site.
 * - `POST /test/expire {user}`: ends every session of the user
 * - `POST /test/users/{user}/password {password}`
 * - `POST /test/lock {user, why?}`: locks the user out, with the message for `locked` or `attempts`; without `why` unlocks
 * - `POST /test/other-account {user, as?}`: the user's logins end in the account of `as`; without `as`, in their own
 * - `POST /test/layout {layout}`: layout of `/login`: usual, renamed (other field names), steps (password on a second page), dead_end (the
 *   correct password leads to a page that neither asks for anything nor signs in)
 * - `POST /test/enrolment {key}`: `/login/enrol` shows its key as text, or only as a QR code (img, canvas or svg)
 * - `POST /test/captcha {beside}`: behavior of the captcha on `/login/captcha-beside`: tick, keyless (no solver can be used), typed (appears
 *   while the password is typed), later (after a first attempt), itself (solves itself), unseen (invisible), framed (in a frame)
 * - `POST /test/mail-link {opens, press?}`: a mailed link signs in the waiting browser (there), or the browser that opens it, which must be
 *   the waiting one (here); with `press` its page requires a button press (button) or not (none, the default)
 * - `POST /test/refuse-codes {user, times}`: refuses this many authenticator codes, even correct ones
 * - `POST /test/totp-period {user, seconds}`: the TOTP period of the user's authenticator; initially 30
 * - `POST /test/mode {mode, delay_ms?}`: ok, down (503), nonsense, slow
 * - `GET /test/sms?user=` and `GET /test/email?user=`: the last code (and link) sent
 * - `POST /test/deliver {user, url?, as?, to?, secret?}`: posts messages to the user to `url`, as `json` (`secret` is the bearer token) or
 *   in the format of `twilio` or `mailgun` (`secret` signs); without `url` stops doing so
 * - `POST /test/approve {user}`: approves the login on another device
 * - `GET /test/passkeys?user=`: ids and signature counters of the user's passkeys
 * - `GET /test/log?user=`: counts login posts, without typed values
 * - `POST /test/reset`
 */
export function testControls(app: FastifyInstance, state: SiteState): void {
  app.post('/test/expire', (request, reply) => {
    const user = findUser(posted(request, 'user'));
    if (!user) return unknownUser(reply);
    return { user: user.username, ended: state.expire(user.username) };
  });

  app.post<{ Params: { user: string } }>('/test/users/:user/password', (request, reply) => {
    const user = findUser(request.params.user);
    const password = posted(request, 'password');
    if (!user) return unknownUser(reply);
    if (!password) return reply.code(400).send({ error: 'password is missing' });
    state.setPassword(user.username, password);
    return { user: user.username };
  });

  app.post('/test/lock', (request, reply) => {
    const user = findUser(posted(request, 'user'));
    if (!user) return unknownUser(reply);
    const why = LOCK_OUTS.find((each) => each === posted(request, 'why')) ?? null;
    state.lockOut(user.username, why);
    return { user: user.username, why };
  });

  app.post('/test/other-account', (request, reply) => {
    const user = findUser(posted(request, 'user'));
    if (!user) return unknownUser(reply);
    const as = findUser(posted(request, 'as'))?.username ?? null;
    state.redirectLoginsTo(user.username, as);
    return { user: user.username, as };
  });

  app.post('/test/enrolment', (request, reply) => {
    const key = KEYS_SHOWN.find((each) => each === posted(request, 'key'));
    if (!key) return reply.code(400).send({ error: `key is one of ${KEYS_SHOWN.join(', ')}` });
    state.keyShown = key;
    return { key };
  });

  app.post('/test/layout', (request, reply) => {
    const layout = LAYOUTS.find((each) => each === posted(request, 'layout'));
    if (!layout) return reply.code(400).send({ error: `layout is one of ${LAYOUTS.join(', ')}` });
    state.layout = layout;
    return { layout };
  });

  app.post('/test/captcha', (request, reply) => {
    const beside = CAPTCHAS_BESIDE.find((each) => each === posted(request, 'beside'));
    if (!beside) return reply.code(400).send({ error: `beside is one of ${CAPTCHAS_BESIDE.join(', ')}` });
    state.captchaBeside = beside;
    return { beside };
  });

  app.post('/test/mail-link', (request, reply) => {
    const opens = LINK_OPENS.find((each) => each === posted(request, 'opens'));
    if (!opens) return reply.code(400).send({ error: `opens is one of ${LINK_OPENS.join(', ')}` });
    state.linkOpens = opens;
    state.linkPress = LINK_PRESSES.find((each) => each === posted(request, 'press')) ?? 'none';
    return { opens, press: state.linkPress };
  });

  app.post('/test/refuse-codes', (request, reply) => {
    const user = findUser(posted(request, 'user'));
    if (!user) return unknownUser(reply);
    const times = Number(posted(request, 'times'));
    state.authenticators.refuseCodes(user.username, Number.isFinite(times) ? times : 1);
    return { user: user.username, times };
  });

  app.post('/test/totp-period', (request, reply) => {
    const user = findUser(posted(request, 'user'));
    if (!user) return unknownUser(reply);
    const seconds = Number(posted(request, 'seconds'));
    if (!Number.isInteger(seconds) || seconds < 1) return reply.code(400).send({ error: 'seconds is a whole number' });
    state.authenticators.setPeriod(user.username, seconds);
    return { user: user.username, seconds };
  });

  app.post('/test/mode', (request, reply) => {
    const mode = MODES.find((each) => each === posted(request, 'mode'));
    if (!mode) return reply.code(400).send({ error: `mode is one of ${MODES.join(', ')}` });
    state.mode = mode;
    const delay = Number(Reflect.get(Object(request.body), 'delay_ms') ?? Number.NaN);
    state.slowMs = Number.isFinite(delay) ? delay : 5_000;
    return { mode };
  });

  app.get('/test/sms', (request, reply) => {
    const user = findUser(queried(request, 'user'));
    if (!user) return unknownUser(reply);
    return {
      user: user.username,
      code: state.messages.code('sms', user.username) ?? null,
      to: state.messages.sentTo(user.username) ?? null,
    };
  });

  app.get('/test/email', (request, reply) => {
    const user = findUser(queried(request, 'user'));
    if (!user) return unknownUser(reply);
    const token = state.messages.lastMailedToken(user.username);
    const link = token ? `${request.protocol}://${request.host}/login/magic-link/open?token=${token}` : null;
    return {
      user: user.username,
      code: state.messages.code('email', user.username) ?? null,
      link,
    };
  });

  app.post('/test/deliver', (request, reply) => {
    const user = findUser(posted(request, 'user'));
    if (!user) return unknownUser(reply);
    const delivery = readDelivery((name) => posted(request, name));
    state.messages.deliverTo(user.username, delivery);
    return { user: user.username, delivered: delivery !== null };
  });

  app.post('/test/approve', (request, reply) => {
    const user = findUser(posted(request, 'user'));
    if (!user) return unknownUser(reply);
    return { user: user.username, approved: state.approve(user.username) };
  });

  app.get('/test/passkeys', (request, reply) => {
    const user = findUser(queried(request, 'user'));
    if (!user) return unknownUser(reply);
    return { user: user.username, passkeys: state.passkeysOf(user.username).map(({ id, count }) => ({ id, count })) };
  });

  app.get('/test/log', (request) => {
    const asks = queried(request, 'user');
    const username = findUser(asks)?.username ?? asks;
    return { user: username, ...state.log(username) };
  });

  app.post('/test/reset', () => {
    state.reset();
    return { reset: true };
  });
}

function unknownUser(reply: { code(status: number): { send(body: unknown): unknown } }): unknown {
  return reply.code(404).send({ error: 'no such user' });
}
