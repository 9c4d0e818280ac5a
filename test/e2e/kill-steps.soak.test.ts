import { expect, it } from 'vitest';
import { LONG_PASSWORD, RECOVERS_WITHIN_MS, setUpKillSteps } from './kill-steps.ts';
import { waitFor } from './until.ts';

/** Whatever dies, the login goes on or asks again, and no password is typed more often than it was given. */
const steps = setUpKillSteps();

it.for(['worker', 'browser', 'temporal'] as const)(
  'goes on when the %s dies while a login page is looked for',
  async (role) => {
    const person = await steps().startLogin();
    await steps().killRole(role);
    await steps().finishLogin(person, 'alice');
  },
);

it.for(['api', 'browser', 'store', 'temporal', 'worker', 'chromium'] as const)(
  'takes the answer, or asks again, when the %s dies while a person is awaited',
  async (role) => {
    const person = await steps().startLogin();
    const { browser_session_id: session } = await person.waitForInput();
    if (role === 'chromium') await steps().tree.killChromium(session ?? '');
    else await steps().killRole(role);
    await steps().finishLogin(person, 'bob');
  },
);

it('types no password twice when the worker dies among its keys', async () => {
  await steps().practice.setPassword('carol', LONG_PASSWORD);
  const person = await steps().startLogin();
  await person.waitForInput();
  const values = { identifier: 'carol', password: LONG_PASSWORD };
  await steps().answerUntilTyping(person, values, ['intent', 'typed', 'pressed']);
  await steps().killRole('worker');
  await steps().finishLogin(person, 'carol', LONG_PASSWORD, 1);
});

it.for(['worker', 'browser', 'store', 'temporal'] as const)(
  'types no password twice when the %s dies between the press and a slow answer',
  async (role) => {
    const on = steps();
    const person = await on.startLogin();
    await person.waitForInput();
    const given = await on.answerSlowly(person, { identifier: 'dave', password: on.practice.user('dave').password });
    await on.killRole(role);
    await on.practice.setMode('ok');
    await on.finishLogin(person, 'dave', undefined, given);
  },
);

it('is logged in again, or says why not, when the worker dies in a health check', async () => {
  const on = steps();
  const person = await on.startLogin();
  await on.finishLogin(person, 'erin');
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
  await on.killRole('worker');
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
  const invoked = await steps().startInvocations();
  await steps().killRole('worker');
  await invoked.expectRecovery();
});

it('goes on where it was when everything is killed and started again', async () => {
  const on = steps();
  const person = await on.startLogin('/login/two-step');
  await person.waitForInput();
  await on.killAll();
  await on.finishLogin(person, 'frank');
  await on.waitForBrowsersToEnd();
});
