import { startApi } from '../../../api/service.ts';
import type { Role } from '../../../contract/people.ts';
import { freePort } from '../../setup/free-port-block.ts';
import type { ServiceFixture } from '../service-fixture.ts';

/** The service where it says that it is: tokens and addresses of the authorization server name it. */
export async function startAtPublicUrl({ deps }: ServiceFixture) {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${String(port)}`;
  return startApi({ ...deps, settings: { ...deps.settings, publicUrl }, port });
}

/** Somebody who is signed in to the console of the default organization. */
export async function signedIn({ store }: Pick<ServiceFixture, 'store'>, email: string, role: Role) {
  const organizationId = 'org_default';
  const user = await store.users.create({ organizationId, email, name: null });
  await store.memberships.add(organizationId, user.id, role);
  const { token } = await store.userSessions.begin(user.id, organizationId);
  return { id: user.id, cookie: `holdfast_session=${token}` };
}

/** What a person's browser does: keeps cookies, and follows redirects one by one. */
export class PersonsBrowser {
  #cookies = new Map<string, string>();

  constructor(cookie?: string) {
    if (cookie !== undefined) this.#keep(cookie);
  }

  /** Opens an address; answers where it leads, or the page. */
  async open(
    url: string | URL,
    init: RequestInit = {},
  ): Promise<{ status: number; location: URL | null; text: string }> {
    const headers = new Headers(init.headers);
    headers.set('cookie', [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const cookie of answer.headers.getSetCookie()) this.#keep(cookie);
    const location = answer.headers.get('location');
    return {
      status: answer.status,
      location: location === null ? null : new URL(location, url),
      text: await answer.text(),
    };
  }

  /** Goes through an authorization; answers where the program is told of it. */
  async answer(
    authorization: string | URL,
    form: Record<string, string> = { answer: 'allow', access: 'all', project: '' },
  ): Promise<URL> {
    const consent = await this.consentOf(authorization);
    const body = new URLSearchParams(form);
    const answered = await this.open(consent, { method: 'POST', body, headers: { origin: consent.origin } });
    if (answered.location === null) throw new Error(`No way on: ${answered.text}`);
    const { location, text } = await this.open(answered.location);
    if (location === null) throw new Error(`The program is not told: ${text}`);
    return location;
  }

  /** The consent page that an authorization leads to. */
  async consentOf(authorization: string | URL): Promise<URL> {
    const { location, text } = await this.open(authorization);
    if (location === null) throw new Error(`Not asked: ${text}`);
    return location;
  }

  #keep(cookie: string): void {
    const [pair = ''] = cookie.split(';', 1);
    const at = pair.indexOf('=');
    this.#cookies.set(pair.slice(0, at), pair.slice(at + 1));
  }
}
