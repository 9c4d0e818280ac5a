import { HoldfastError } from '../../contract/errors.ts';
import type { Logger } from '../logger.ts';
import type { SessionProfiles } from '../session/lifecycle.ts';
import { captureState } from './capture.ts';
import { mergeStates } from '../../store/profile-state/merge.ts';
import type { ProfileStore } from './profile-store.ts';
import { restoreState } from './restore.ts';
import { readState } from '../../store/profile-state/state.ts';

/** Loads profiles from the store into sessions, and saves them back. */
export function createSessionProfiles(store: ProfileStore, logger: Logger): SessionProfiles {
  return {
    attach: async ({ record, chromium }, ref, fresh) => {
      const stored = await store.load(
        record.projectId,
        ref.id === undefined ? { name: ref.name ?? '' } : { id: ref.id },
      );
      if (stored === null) {
        const message = 'profile: no such profile; create it first';
        throw new HoldfastError('not_found', message, { details: [{ code: 'not_found', message }] });
      }
      const { baseline, faults } = await restoreState(chromium, readState(stored.state), fresh);
      if (faults > 0) logger.warn({ profile_id: stored.id, faults }, 'profile partially loaded');
      return {
        id: stored.id,
        name: stored.name,
        createdAt: stored.createdAt,
        updatedAt: stored.updatedAt,
        lastUsedAt: stored.lastUsedAt,
        saveChanges: ref.save_changes ?? false,
        baseline,
      };
    },
    save: async ({ record, chromium }, profile) => {
      const { state, skipped } = await captureState(chromium, profile.baseline);
      if (skipped > 0) logger.warn({ profile_id: profile.id, skipped }, 'profile partially saved');
      await store.save(record.projectId, profile.id, (stored) =>
        mergeStates(profile.baseline, state, readState(stored)),
      );
    },
  };
}
