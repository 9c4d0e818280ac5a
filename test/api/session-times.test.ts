import { beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../api/service.ts';
import type { ApiServer } from '../../api/context.ts';
import { SESSION_IDLE_MS, SESSION_LIFETIME_MS } from '../../contract/people.ts';
import { useStore } from '../store/databases.ts';
import { OWN_PAGE } from './console-browser.ts';
import { signedIn } from './oauth/person.ts';
import { useService } from './service-fixture.ts';

const fixture = useService();
const context = useStore();
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let now = 0;
let app: ApiServer;
beforeAll(async () => {
  const { deps } = fixture();
  const clock = () => new Date(now);
  app = await createApi({ ...deps, clock, store: context().open({ clock }) });
});

/** Somebody who signs in at noon, and what they are answered so many milliseconds after. */
async function signInAtNoon(email: string) {
  const noon = Date.parse('2026-05-04T12:00:00Z');
  now = noon;
  const store = context().open({ clock: () => new Date(now) });
  const { cookie } = await signedIn({ store }, email, 'operator');
  const at = async (milliseconds: number, url = '/session') => {
    now = noon + milliseconds;
    const answer = await app.inject({ url, headers: { ...OWN_PAGE, cookie } });
    return answer.statusCode;
  };
  return { at, sweep: () => store.sweep() };
}

describe('a console session', () => {
  it('expires after a day without a request, and not before', async () => {
    const { at } = await signInAtNoon('idle@example.com');
    expect(await at(SESSION_IDLE_MS - 1)).toBe(200);
    expect(await at(2 * SESSION_IDLE_MS - 2)).toBe(200);
    expect(await at(3 * SESSION_IDLE_MS - 2)).toBe(401);
    // It does not come back, whatever time it is.
    expect(await at(3 * SESSION_IDLE_MS - 1, '/profiles')).toBe(401);
  });

  it('is extended by any request, though most are not recorded', async () => {
    const { at } = await signInAtNoon('busy@example.com');
    expect(await at(MINUTE_MS / 2, '/profiles')).toBe(200);
    expect(await at(HOUR_MS, '/auth/context')).toBe(200);
    expect(await at(HOUR_MS + SESSION_IDLE_MS - 1)).toBe(200);
  });

  it('expires after seven days of activity', async () => {
    const { at, sweep } = await signInAtNoon('whole-week@example.com');
    for (let hours = 20; hours * HOUR_MS < SESSION_LIFETIME_MS; hours += 20)
      expect([hours, await at(hours * HOUR_MS)]).toEqual([hours, 200]);
    expect(await at(SESSION_LIFETIME_MS - 1)).toBe(200);
    expect(await at(SESSION_LIFETIME_MS)).toBe(401);
    expect(await sweep()).toBeGreaterThan(0);
    // A clock that is set back finds no session any more: its row is gone.
    expect(await at(SESSION_LIFETIME_MS - 1)).toBe(401);
  });

  it('shows when it expires', async () => {
    const { at } = await signInAtNoon('told@example.com');
    expect(await at(0)).toBe(200);
    const noon = now;
    const store = context().open({ clock: () => new Date(now) });
    const { cookie } = await signedIn({ store }, 'told-too@example.com', 'viewer');
    const answer = await app.inject({ url: '/session', headers: { ...OWN_PAGE, cookie } });
    expect(answer.json()).toMatchObject({
      expires_at: new Date(noon + SESSION_LIFETIME_MS).toISOString(),
      confirmed_until: new Date(noon + 15 * MINUTE_MS).toISOString(),
    });
  });
});
