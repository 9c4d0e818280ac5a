import { HoldfastError } from '../../contract/errors.ts';
import type { SessionProfiles } from '../session/lifecycle.ts';
import type { ProfileStore } from './profile-store.ts';
import { EMPTY_STATE } from './state.ts';

export function createSessionProfiles(store: ProfileStore): SessionProfiles {
  return {
    attach: async ({ record }, ref) => {
      const profile = await store.load(
        record.projectId,
        ref.id !== undefined ? { id: ref.id } : { name: ref.name ?? '' },
      );
      if (profile === null) throw new HoldfastError('not_found', 'profile: there is no such profile in this project');
      return {
        id: profile.id,
        name: profile.name,
        createdAt: profile.createdAt,
        updatedAt: profile.updatedAt,
        lastUsedAt: profile.lastUsedAt,
        saveChanges: ref.save_changes ?? false,
        baseline: EMPTY_STATE,
      };
    },
    save: () => Promise.resolve(),
  };
}
