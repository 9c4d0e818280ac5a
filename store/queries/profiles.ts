import type { Page, PageRequest, ProjectScope, Scope } from "../scope.ts";

/** A profile without its state. `name` may be absent (POST /profiles needs none). */
export interface ProfileRecord {
  id: string;
  projectId: string;
  name: string | null;
  revision: number;
  createdAt: Date;
  updatedAt: Date;
  lastUsedAt: Date | null;
}

/** A profile with its opened state; `state` is null before the first save. */
export interface LoadedProfile {
  id: string;
  name: string | null;
  createdAt: Date;
  updatedAt: Date;
  lastUsedAt?: Date;
  state: unknown;
  revision: number;
}

/** Profiles: sealed browser state. `load` and `save` are the port that the browser service needs. */
export interface ProfileQueries {
  /** Throws `already_exists` when the project has a profile of that name. */
  create(scope: ProjectScope, input: { name?: string }): Promise<ProfileRecord>;
  findOrCreate(scope: ProjectScope, name: string): Promise<ProfileRecord>;
  find(scope: Scope, idOrName: string): Promise<ProfileRecord | null>;
  list(
    scope: Scope,
    page: PageRequest & { query?: string },
  ): Promise<Page<ProfileRecord>>;
  /** Throws `already_exists` when the new name is taken. Null when there is no such profile. */
  rename(
    scope: Scope,
    idOrName: string,
    name: string,
  ): Promise<ProfileRecord | null>;
  /** False when there was none. */
  remove(scope: Scope, idOrName: string): Promise<boolean>;
  /** Opens a profile for a browser and notes its use. Null when the project has none such. */
  load(
    projectId: string,
    ref: { id: string } | { name: string },
  ): Promise<LoadedProfile | null>;
  /**
   * Replaces the state by `merge(stored)` in one transaction that holds the row, so that two saves at once never lose
   * each other's changes. `merge` must be quick and synchronous. Throws `not_found` when the profile is gone.
   */
  save(
    projectId: string,
    id: string,
    merge: (stored: unknown) => unknown,
  ): Promise<LoadedProfile>;
}
