import type { ProfileState } from '../../store/profile-state/state.ts';

/** A profile as the store hands it out. `state` is read by `state.ts`; null before the first save. */
export interface StoredProfile {
  id: string;
  name: string | null;
  createdAt: Date;
  updatedAt: Date;
  lastUsedAt?: Date;
  state: unknown;
  revision: number;
}

/** What the browser service needs of the store. */
export interface ProfileStore {
  /** Which profile that is, and when it last changed; null when no such profile. */
  lookUp(projectId: string, ref: { id: string } | { name: string }): Promise<{ id: string; updatedAt: Date } | null>;
  /** Null when no such profile. */
  load(projectId: string, ref: { id: string } | { name: string }): Promise<StoredProfile | null>;
  /**
   * Replaces the state by `merge(stored)` in one transaction that holds the row, so that saves at the same time lose
   * nothing of each other. `merge` is synchronous. Rejects with `not_found` when the profile is gone.
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

/** The profiles of a project, for a service that serves them itself: one that no API stands before. */
export interface ProfileRecords {
  /** Rejects with `already_exists` when the project has a profile of that name. */
  create(projectId: string, name: string | null): Promise<ProfileRecord>;
  /** Null when the project has none such. */
  find(projectId: string, idOrName: string): Promise<ProfileRecord | null>;
  /** Newest first. `query`: part of the name, in any case. */
  list(
    projectId: string,
    page: { limit: number; offset: number; query?: string },
  ): Promise<{ rows: ProfileRecord[]; hasMore: boolean }>;
  /** Null when the project has none such. Rejects with `already_exists` when the name is taken. */
  rename(projectId: string, idOrName: string, name: string): Promise<ProfileRecord | null>;
  /** False when the project has none such. */
  remove(projectId: string, idOrName: string): Promise<boolean>;
}

/** The profile that a session opened. */
export interface AttachedProfile {
  id: string;
  name: string | null;
  createdAt: Date;
  updatedAt: Date;
  lastUsedAt: Date | undefined;
  /** Whether the end of the session saves to it. */
  saveChanges: boolean;
  /** The state right after loading, as this browser shows it: what differs later was changed by this session. */
  baseline: ProfileState;
}
