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
  /** Null when no such profile. */
  load(projectId: string, ref: { id: string } | { name: string }): Promise<StoredProfile | null>;
  /**
   * Replaces the state by `merge(stored)` in one transaction that holds the row, so that saves at the same time lose
   * nothing of each other. `merge` is synchronous. Rejects with `not_found` when the profile is gone.
   */
  save(projectId: string, id: string, merge: (stored: unknown) => unknown): Promise<unknown>;
}
