import { expect, it } from 'vitest';
import { LONG_PASSWORD, RECOVERS_WITHIN_MS, setUpKillSteps } from './kill-steps.ts';
import { personFor } from './person.ts';
import { waitFor } from './until.ts';

const steps = setUpKillSteps();

/**
 * Where most would be lost: an answer that was typed, and everything at once. Until the end the passwords are wrong ones, so
 * that the login asks for another whatever became of them. `kill-steps.soak.test.ts` kills every part at every step, each in
 * a login of its own.
 */
it('a login outlives what it runs on, asks again for what was lost, and types no password twice; an action runs again or is said to be lost', async () => {
  const on = steps();
  const [first, actions] = await Promise.all([on.startLogin('/login'), on.startInvocations()]);

  // The browser in which a person is awaited.
  await on.tree.killChromium((await first.waitForInput()).browser_session_id ?? '');
  // Somebody who has seen no pause yet: the one that still waits is answered as it is, or the next.
  const person = personFor(on.kernel, first.id);
  await person.waitForInput();
  await person.answer({ identifier: 'carol', password: 'wrong' });
  await person.waitForInput();
  await on.expectPasswordsAtMost('carol', 1);

  // The worker, among the keys of a password and in the middle of an action.
  await on.answerUntilTyping(person, { identifier: 'carol', password: LONG_PASSWORD }, ['intent', 'typed', 'pressed']);
  const back = on.killRole('worker');
  await waitFor(async () => (await on.tree.health()) === 503 || null, RECOVERS_WITHIN_MS, '/health to tell of it', 50);
  await back;
  expect(on.tree.output()).toMatch(/^worker ended \(signal SIGKILL\); starting it again/m);
  await actions.expectRecovery();
  await person.waitForInput();
  await on.expectPasswordsAtMost('carol', 1);

  // The browser service, between the press and a slow answer.
  const given = await on.answerSlowly(person, { identifier: 'carol', password: 'wrong, too' });
  await on.killRole('browser');
  await on.practice.setMode('ok');
  await person.waitForInput();
  await on.expectPasswordsAtMost('carol', given);

  // The supervisor, and with it everything, while a person is awaited.
  await on.killAll();
  await on.finishLogin(person, 'carol');
  await on.waitForBrowsersToEnd();
});
