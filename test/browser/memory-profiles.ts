import type { ProfileStore, StoredProfile } from '../../browser/profile/profile-store.ts';

/** API key of the services that tests start. */
export const API_KEY = 'test-key-of-the-browser-service';

/** Profiles in memory. Like the store, it saves sequentially. */
export interface MemoryProfiles extends ProfileStore {
  create(name: string, state?: unknown): StoredProfile;
  get(name: string): StoredProfile | undefined;
}

export function memoryProfiles(): MemoryProfiles {
  const profiles = new Map<string, StoredProfile>();
  const byRef = (ref: { id: string } | { name: string }): StoredProfile | undefined =>
    [...profiles.values()].find((profile) => ('id' in ref ? profile.id === ref.id : profile.name === ref.name));
  return {
    create: (name, state = null) => {
      const now = new Date();
      const profile: StoredProfile = { id: `prof_${name}`, name, createdAt: now, updatedAt: now, state, revision: 0 };
      profiles.set(profile.id, profile);
      return profile;
    },
    get: (name) => byRef({ name }),
    lookUp: async (_projectId, ref) => byRef(ref) ?? null,
    load: async (_projectId, ref) => {
      const profile = byRef(ref);
      return profile === undefined ? null : structuredClone(profile);
    },
    save: async (_projectId, id, merge) => {
      const profile = byRef({ id });
      if (profile === undefined) throw new Error('gone');
      profile.state = JSON.parse(JSON.stringify(merge(profile.state)));
      profile.revision += 1;
      profile.updatedAt = new Date(profile.updatedAt.getTime() + 1);
      return profile;
    },
  };
}
