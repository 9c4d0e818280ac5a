import type { FastifyInstance } from 'fastify';
import { BASE_STYLES, document, html, nothing, type Html } from '../markup.ts';
import type { SiteState } from '../state.ts';
import { checkPassword, posted, show, signIn, visitor } from '../visit.ts';

const PATH = '/login/two-forms';
const STAFF = `${PATH}/staff`;

/** Three logins among which only a person can choose: partners, then members, and staff on a separate page. */
export function twoFormsLogin(app: FastifyInstance, state: SiteState): void {
  app.get(PATH, (request, reply) =>
    visitor(state, request) ? reply.redirect('/account', 303) : show(reply, both('')),
  );
  app.get(STAFF, (_request, reply) => show(reply, staff('')));

  app.post(`${PATH}/members`, (request, reply) => {
    const user = checkPassword(state, PATH, posted(request, 'member'), posted(request, 'member_secret'), true);
    if (!user) return show(reply, both('These details belong to no member.'), 401);
    return signIn(state, request, reply, user.username, 'persistent');
  });
  for (const path of [`${PATH}/partners`, STAFF]) {
    app.post(path, (request, reply) => {
      state.count(posted(request, 'partner'), path, 'password', false);
      return show(reply, path === STAFF ? staff(NOBODY) : both(NOBODY), 401);
    });
  }
}

const NOBODY = 'Nobody is known here by these details.';

function both(error: string): string {
  return document(
    'Sign in - Sandbox',
    BASE_STYLES,
    html`<main>
      ${alert(error)}
      <h2>Partners</h2>
      ${form(`${PATH}/partners`, 'partner', 'Partner name')}
      <h2>Members</h2>
      ${form(`${PATH}/members`, 'member', 'Member name')}
      <p><a href="${STAFF}">Staff sign in</a></p>
    </main>`,
  );
}

function staff(error: string): string {
  return document(
    'Staff - Sandbox',
    BASE_STYLES,
    html`<main>
      <h1>Staff sign in</h1>
      ${alert(error)} ${form(STAFF, 'badge', 'Badge')}
    </main>`,
  );
}

function alert(error: string): Html {
  return error ? html`<div role="alert">${error}</div>` : nothing;
}

function form(action: string, name: string, label: string): Html {
  return html`<form method="post" action="${action}">
    <label for="${name}">${label}</label>
    <input id="${name}" name="${name}" autocomplete="username" required />
    <label for="${name}_secret">Password</label>
    <input id="${name}_secret" name="${name}_secret" type="password" required />
    <p><button type="submit">Sign in</button></p>
  </form>`;
}
