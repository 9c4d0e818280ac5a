import { expect, it } from 'vitest';
import { saveWithRollback } from '../../activities/login/session/profile-session.ts';
import type { ProfileCookie, ProfileState } from '../../store/profile-state/state.ts';
import { SCOPE, useStore } from '../store/databases.ts';

const stores = useStore();
const PLACE = { domain: 'site.example', path: '/', secure: true, httpOnly: true } as const;
const cookie = (name: string, value: string) => ({ ...PLACE, name, value });
const stateOf = (...cookies: ProfileCookie[]): ProfileState => ({ cookies, origins: [] });

/** A profile with a state, and what saves another to it. */
async function profileWith(name: string, state: ProfileState) {
  const { profiles } = stores().store;
  const { id } = await profiles.create(SCOPE, { name });
  const save = async (next: ProfileState): Promise<void> => {
    await profiles.save(SCOPE.projectId, id, () => next);
  };
  await save(state);
  return { save, read: async () => (await profiles.load(SCOPE.projectId, { id }))?.state };
}

it('reverts what a login has saved and keeps what others have saved since', async () => {
  const before = stateOf(cookie('session', 'old'), cookie('theme', 'dark'));
  const { save, read } = await profileWith('undone', before);
  const saved = stateOf(cookie('session', 'new'), cookie('extra', '1'));
  const target = { ...SCOPE, profileName: 'undone' };
  const undo = await saveWithRollback(stores().store, target, () => save(saved));
  expect(await read()).toEqual(saved);
  await save(stateOf(...saved.cookies, cookie('other site', '2')));
  await undo();
  expect(await read()).toEqual(stateOf(cookie('session', 'old'), cookie('other site', '2'), cookie('theme', 'dark')));
});

it('reverts nothing if another session saved concurrently or nothing was saved', async () => {
  const { store } = stores();
  const { save, read } = await profileWith('crowded', stateOf());
  const target = { ...SCOPE, profileName: 'crowded' };
  const both = stateOf(cookie('ours', '1'), cookie('theirs', '2'));
  const undo = await saveWithRollback(store, target, async () => {
    await save(stateOf(cookie('theirs', '2')));
    await save(both);
  });
  await undo();
  expect(await read()).toEqual(both);
  const unsaved = await saveWithRollback(store, target, () => Promise.resolve());
  await unsaved();
  expect(await read()).toEqual(both);
  await (
    await saveWithRollback(store, { ...target, profileName: 'kept elsewhere' }, () => Promise.resolve())
  )();
});
