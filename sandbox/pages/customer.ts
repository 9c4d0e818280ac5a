import type { FastifyInstance } from 'fastify';
import { BASE_STYLES, document, html, nothing } from '../markup.ts';
import type { SiteState } from '../state.ts';
import { customerNumberOf } from '../users.ts';
import { checkPassword, posted, show, signIn, visitor } from '../visit.ts';

const PATH = '/login/customer';

/** Two fields that both say who somebody is, as banks have them: a customer number and a user ID. */
export function customerLogin(app: FastifyInstance, state: SiteState): void {
  app.get(PATH, (request, reply) => {
    if (visitor(state, request)) return reply.redirect('/account', 303);
    return show(reply, page(''));
  });

  app.post(PATH, (request, reply) => {
    const user = checkPassword(state, PATH, posted(request, 'uid'), posted(request, 'pin'), true);
    if (!user || posted(request, 'kdnr') !== customerNumberOf(user))
      return show(reply, page(state.lockOutMessage(posted(request, 'uid')) ?? 'These details do not match.'), 401);
    return signIn(state, request, reply, user.username, 'persistent');
  });
}

function page(error: string): string {
  return document(
    'Log in - Sandbox bank',
    BASE_STYLES,
    html`<main>
      <h1>Log in to your accounts</h1>
      ${error ? html`<div role="alert">${error}</div>` : nothing}
      <form method="post" action="${PATH}">
        <label for="kdnr">Customer number</label>
        <input id="kdnr" name="kdnr" type="text" inputmode="numeric" autocomplete="off" required />
        <label for="uid">User ID</label>
        <input id="uid" name="uid" type="text" autocomplete="username" required />
        <label for="pin">Password</label>
        <input id="pin" name="pin" type="password" autocomplete="current-password" required />
        <p><button type="submit">Log in</button></p>
      </form>
    </main>`,
  );
}
