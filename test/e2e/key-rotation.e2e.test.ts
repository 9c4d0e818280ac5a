import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createStore } from '../../store/store.ts';
import { startInstallation } from './installation.ts';
import { newPerson } from './person.ts';

test('a login that awaits input continues after all keys are rotated', async () => {
  const on = await startInstallation();
  try {
    const person = await newPerson(on, { login_url: on.practice.page('/login') });
    await person.login();
    await person.waitForInput();

    const next = randomBytes(32);
    on.masterKeys.unshift(next);
    const rotator = createStore({
      connection: { url: on.databaseUrl },
      masterKey: next,
      retiredMasterKeys: [on.masterKey],
      clock: () => new Date(Date.now() + 61_000),
    });
    expect(await rotator.rotateAllKeys()).toMatchObject({ broken: [], finished: false });
    await rotator.close();
    const later = createStore({
      connection: { url: on.databaseUrl },
      masterKey: next,
      retiredMasterKeys: [on.masterKey],
      clock: () => new Date(Date.now() + 122_000),
    });
    expect(await later.rotateAllKeys()).toMatchObject({ broken: [], finished: true });
    await later.close();
    on.masterKeys.pop();

    await person.answer({ identifier: 'alice', password: on.practice.user('alice').password });
    await person.waitForSuccess();
    const second = await newPerson(on, { login_url: on.practice.page('/login') });
    await second.login();
    await second.waitForInput();
  } finally {
    await on.close();
  }
});
