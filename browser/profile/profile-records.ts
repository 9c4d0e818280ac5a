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
