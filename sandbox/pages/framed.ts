import type { FastifyInstance, FastifyRequest } from 'fastify';
import { BASE_STYLES, document, html, nothing } from '../markup.ts';
import type { SiteState } from '../state.ts';
import { queried, checkPassword, posted, show, signIn, visitor } from '../visit.ts';
import { otherOrigin } from './sso.ts';

const PATH = '/login/framed';
const OUTER = `${PATH}/outer`;
const FORM = `${PATH}/form`;
const FRAME_STYLES = 'iframe { border: 0; width: 100%; height: 320px; }';

/** A form of another site, two frames deep: the page frames that site, which frames its own form. It posts to the whole window. */
export function framedLogin(app: FastifyInstance, state: SiteState): void {
  app.get(PATH, (request, reply) => {
    if (visitor(state, request)) return reply.redirect('/account', 303);
    return show(reply, framing('Members area', `${otherOrigin(request)}${OUTER}`, ''));
  });

  app.get(OUTER, (request, reply) => show(reply, framing('Accounts', FORM, queried(request, 'wrong'))));

  app.get(FORM, (request, reply) => show(reply, formPage(request)));

  app.post(PATH, (request, reply) => {
    const user = checkPassword(state, PATH, posted(request, 'account'), posted(request, 'secret'), true);
    if (!user) return show(reply, framing('Members area', `${otherOrigin(request)}${OUTER}`, 'yes'));
    return signIn(state, request, reply, user.username, 'persistent');
  });
}

function framing(title: string, src: string, wrong: string): string {
  return document(
    title,
    `${BASE_STYLES} ${FRAME_STYLES}`,
    html`<main><iframe title="${title}" src="${wrong === '' ? src : `${src}?wrong=${wrong}`}"></iframe></main>`,
  );
}

function formPage(request: FastifyRequest): string {
  return document(
    'Sign in',
    BASE_STYLES,
    html`<form method="post" action="${otherOrigin(request)}${PATH}" target="_top">
      <label>Account<input type="text" name="account" autocomplete="username" /></label>
      <label>Password<input type="password" name="secret" autocomplete="current-password" /></label>
      ${queried(request, 'wrong') === '' ? nothing : html`<p role="alert">Account or password is wrong.</p>`}
      <button type="submit">Sign in</button>
    </form>`,
  );
}
