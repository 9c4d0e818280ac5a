import { expect, it } from 'vitest';
import { LONG_PASSWORD, RECOVERS_WITHIN_MS, setUpKillSteps } from './kill-steps.ts';
import { waitFor } from './until.ts';

/** Whatever is killed, the login continues or asks again, and no password is typed more often than submitted. */
const steps = setUpKillSteps();

it.for(['worker', 'browser', 'temporal'] as const)(
  'continues when the %s is killed while it looks for the login page',
  async (role) => {
    const person = await steps().startLogin();
    await steps().killRole(role);
    await steps().finishLogin(person, 'alice');
  },
);

it.for(['api', 'browser', 'store', 'temporal', 'worker', 'chromium'] as const)(
  'accepts the answer, or asks again, when the %s is killed while awaiting input',
  async (role) => {
    const person = await steps().startLogin();
    const { browser_session_id: session } = await person.waitForInput();
    if (role === 'chromium') await steps().tree.killChromium(session ?? '');
    else await steps().killRole(role);
    await steps().finishLogin(person, 'bob');
  },
);

it('types no password twice when the worker is killed while typing', async () => {
  await steps().practice.setPassword('carol', LONG_PASSWORD);
  const person = await steps().startLogin();
  await person.waitForInput();
  const values = { identifier: 'carol', password: LONG_PASSWORD };
  await steps().answerUntilTyping(person, values, ['intent', 'typed', 'pressed']);
  await steps().killRole('worker');
  await steps().finishLogin(person, 'carol', LONG_PASSWORD, 1);
});

it.for(['worker', 'browser', 'store', 'temporal'] as const)(
  'types no password twice when the %s is killed between the submit and a slow response',
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

it('logs in again, or reports why not, when the worker is killed during a health check', async () => {
  const on = steps();
  const person = await on.startLogin();
  await on.finishLogin(person, 'erin');
  await on.practice.expire('erin');
  const before = (await on.practice.counts('erin')).passwords;
  // A worker that has finished may or may not still be running.
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

it('retries an action, or reports it lost, when the worker is killed while it runs', async () => {
  const invoked = await steps().startInvocations();
  await steps().killRole('worker');
  await invoked.expectRecovery();
});

it('continues when everything is killed and started again', async () => {
  const on = steps();
  const person = await on.startLogin('/login/two-step');
  await person.waitForInput();
  await on.killAll();
  await on.finishLogin(person, 'frank');
  await on.waitForBrowsersToEnd();
});
