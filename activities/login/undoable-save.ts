import type { LoginTarget } from '../../contract/activities.ts';
import { mergeStates } from '../../store/profile-state/merge.ts';
import { readState } from '../../store/profile-state/state.ts';
import type { Store } from '../../store/store.ts';

/**
 * Runs `save`, which saves a session to the profile, and answers how to take that back: what the save changed becomes what it
 * was, and what others have saved since stays. Nothing is taken back where another session saved at the same moment, nor
 * where the browser service keeps its profiles in a store of its own.
 */
export async function saveUndoably(
  { profiles }: Pick<Store, 'profiles'>,
  { projectId, profileName }: Pick<LoginTarget, 'projectId' | 'profileName'>,
  save: () => Promise<void>,
): Promise<() => Promise<void>> {
  const read = () => profiles.load(projectId, { name: profileName });
  const before = await read();
  await save();
  const after = await read();
  const isOurs = before !== null && after?.id === before.id && after.revision === before.revision + 1;
  if (!isOurs) return () => Promise.resolve();
  const [was, saved] = [readState(before.state), readState(after.state)];
  return async () => {
    await profiles.save(projectId, before.id, (stored) => mergeStates(saved, was, readState(stored)));
  };
}
