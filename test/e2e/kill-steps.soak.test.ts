import { expect, it } from 'vitest';
import { LONG_PASSWORD, RECOVERS_WITHIN_MS, setUpKillSteps } from './kill-steps.ts';
import { waitFor } from './until.ts';

/** Whatever dies, the login goes on or asks again, and no password is typed more often than it was given. */
const steps = setUpKillSteps();

it.for(['worker', 'browser', 'temporal'] as const)(
  'goes on when the %s dies while a login page is looked for',
  async (role) => {
    const person = await steps().begun();
    await steps().killed(role);
    await steps().finishes(person, 'alice');
  },
);

it.for(['api', 'browser', 'store', 'temporal', 'worker', 'chromium'] as const)(
  'takes the answer, or asks again, when the %s dies while a person is awaited',
  async (role) => {
    const person = await steps().begun();
    const { browser_session_id: session } = await person.waitForInput();
    if (role === 'chromium') await steps().tree.killChromium(session ?? '');
    else await steps().killed(role);
    await steps().finishes(person, 'bob');
  },
);

it('types no password twice when the worker dies among its keys', async () => {
  await steps().practice.setPassword('carol', LONG_PASSWORD);
  const person = await steps().begun();
  await person.waitForInput();
  const values = { identifier: 'carol', password: LONG_PASSWORD };
  await steps().givenUntil(person, values, ['intent', 'typed', 'pressed']);
  await steps().killed('worker');
  await steps().finishes(person, 'carol', LONG_PASSWORD, 1);
});

it.for(['worker', 'browser', 'store', 'temporal'] as const)(
  'types no password twice when the %s dies between the press and a slow answer',
  async (role) => {
    const on = steps();
    const person = await on.begun();
    await person.waitForInput();
    const given = await on.givenSlowly(person, { identifier: 'dave', password: on.practice.user('dave').password });
    await on.killed(role);
    await on.practice.setMode('ok');
    await on.finishes(person, 'dave', undefined, given);
  },
);

it('is logged in again, or says why not, when the worker dies in a health check', async () => {
  const on = steps();
  const person = await on.begun();
  await on.finishes(person, 'erin');
  await on.practice.expire('erin');
  const before = (await on.practice.counts('erin')).passwords;
  // One that has ended its work may still be there, or not.
  const known = new Set(await on.tree.chromiums());
  const check = on.kernel.post(`/auth/connections/${person.id}/check`).catch(() => null);
  await waitFor(
    async () => (await on.tree.chromiums()).some((pid) => !known.has(pid)) || null,
    RECOVERS_WITHIN_MS,
    'a browser of the check',
  );
  await on.killed('worker');
  await check;
  const end = await waitFor(
    async () => {
      const now = await person.read().catch(() => null);
      return now?.flow_type === 'REAUTH' && now.flow_status !== 'IN_PROGRESS' ? now : null;
    },
    RECOVERS_WITHIN_MS,
    'the end of REAUTH',
  );
  expect(end.flow_status).toBe('SUCCESS');
  expect((await on.practice.counts('erin')).passwords - before).toBe(1);
});

it('runs an action again, or says that it was lost, when the worker dies in the middle of it', async () => {
  const invoked = await steps().invoked();
  await steps().killed('worker');
  await invoked.recovers();
});

it('goes on where it was when everything is killed and started again', async () => {
  const on = steps();
  const person = await on.begun('/login/two-step');
  await person.waitForInput();
  await on.killedAll();
  await on.finishes(person, 'frank');
  await on.untilBrowsersEnded();
});
