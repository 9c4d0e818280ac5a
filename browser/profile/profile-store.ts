import type { ProfileState } from '../../store/profile-state/state.ts';

/** A profile from the store. `state` is parsed by `readState`; null before the first save. */
export interface StoredProfile extends Omit<ProfileRecord, 'lastUsedAt'> {
  lastUsedAt?: Date;
  state: unknown;
  revision: number;
}

/** What the browser service needs of the store. */
export interface ProfileStore {
  /** A profile's id and last change; null if it does not exist. */
  lookUp(projectId: string, ref: { id: string } | { name: string }): Promise<{ id: string; updatedAt: Date } | null>;
  /** Null if it does not exist. */
  load(projectId: string, ref: { id: string } | { name: string }): Promise<StoredProfile | null>;
  /**
   * Replaces the state with `merge(stored)` in a transaction that locks the row, so that concurrent saves do not overwrite each
   * other. Rejects with `not_found` if the profile no longer exists.
   */
  save(projectId: string, id: string, merge: (stored: unknown) => unknown): Promise<unknown>;
}

/** A profile without its state. */
export interface ProfileRecord {
  id: string;
  name: string | null;
  createdAt: Date;
  updatedAt: Date;
  lastUsedAt: Date | null;
}

/** A project's profiles, for a browser service that serves them itself, without an API in front of it. */
export interface ProfileRecords {
  /** Rejects with `already_exists` if the name is taken. */
  create(projectId: string, name: string | null): Promise<ProfileRecord>;
  /** Null if it does not exist. */
  find(projectId: string, idOrName: string): Promise<ProfileRecord | null>;
  /** Newest first. `query` matches part of the name, ignoring case. */
  list(
    projectId: string,
    page: { limit: number; offset: number; query?: string },
  ): Promise<{ rows: ProfileRecord[]; hasMore: boolean }>;
  /** Null if it does not exist. Rejects with `already_exists` if the name is taken. */
  rename(projectId: string, idOrName: string, name: string): Promise<ProfileRecord | null>;
  /** False if it does not exist. */
  remove(projectId: string, idOrName: string): Promise<boolean>;
}

/** The profile attached to a session. */
export interface AttachedProfile extends Pick<StoredProfile, 'id' | 'name' | 'createdAt' | 'updatedAt'> {
  lastUsedAt: Date | undefined;
  /** Whether to save it when the session ends. */
  saveChanges: boolean;
  /** The state right after loading, as read from this browser; later differences are the session's changes. */
  baseline: ProfileState;
}
