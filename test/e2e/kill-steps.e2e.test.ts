import { expect, it } from 'vitest';
import { LONG_PASSWORD, RECOVERS_WITHIN_MS, setUpKillSteps } from './kill-steps.ts';
import { personFor } from './person.ts';
import { waitFor } from './until.ts';

const steps = setUpKillSteps();

/**
 * The kills that could lose most: after an answer was typed, and of everything at once. All passwords but the last are wrong,
 * so that the login asks again whatever happened to them. `kill-steps.soak.test.ts` kills every role at every step, each in a
 * separate login.
 */
it('a login survives killed processes, asks again for lost values, and types no password twice; an action is retried or reported lost', async () => {
  const on = steps();
  const [first, actions] = await Promise.all([on.startLogin('/login'), on.startInvocations()]);

  // The browser, while the login awaits input.
  await on.tree.killChromium((await first.waitForInput()).browser_session_id ?? '');
  // A new person has seen no interaction yet, so that the pending one or the next is answered.
  const person = personFor(on.kernel, first.id);
  await person.waitForInput();
  await person.answer({ identifier: 'carol', password: 'wrong' });
  await person.waitForInput();
  await on.expectPasswordsAtMost('carol', 1);

  // The worker, while it types a password and runs an action.
  await on.answerUntilTyping(person, { identifier: 'carol', password: LONG_PASSWORD }, ['intent', 'typed', 'pressed']);
  const back = on.killRole('worker');
  await waitFor(async () => (await on.tree.health()) === 503 || null, RECOVERS_WITHIN_MS, '/health to tell of it', 50);
  await back;
  expect(on.tree.output()).toMatch(/^worker ended \(signal SIGKILL\); starting it again/m);
  await actions.expectRecovery();
  await person.waitForInput();
  await on.expectPasswordsAtMost('carol', 1);

  // The browser service, between the submit and a slow response.
  const given = await on.answerSlowly(person, { identifier: 'carol', password: 'wrong, too' });
  await on.killRole('browser');
  await on.practice.setMode('ok');
  await person.waitForInput();
  await on.expectPasswordsAtMost('carol', given);

  // The supervisor, and with it everything, while the login awaits input.
  await on.killAll();
  await on.finishLogin(person, 'carol');
  await on.waitForBrowsersToEnd();
});
