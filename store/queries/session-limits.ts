import type { Db } from '../database.ts';

/** Limits on concurrent browser sessions and invocations; null means no limit of its own. */
export interface SessionLimitQueries {
  /** The limit that applies to a project: its own, else its organization's default. */
  effective(projectId: string): Promise<number | null>;
  ofProject(projectId: string): Promise<number | null>;
  setOfProject(projectId: string, limit: number | null): Promise<void>;
  invocationsOfProject(projectId: string): Promise<number | null>;
  setInvocationsOfProject(projectId: string, limit: number | null): Promise<void>;
  /** The default for projects without a limit of their own. */
  defaultOf(organizationId: string): Promise<number | null>;
  setDefaultOf(organizationId: string, limit: number | null): Promise<void>;
}

/** Queries of session limits. */
export function createSessionLimitQueries(db: Db): SessionLimitQueries {
  const read = (projectId: string) =>
    db
      .selectFrom('projects')
      .innerJoin('organizations', 'organizations.id', 'projects.organization_id')
      .select(['projects.max_sessions', 'organizations.default_project_max_sessions'])
      .where('projects.id', '=', projectId)
      .executeTakeFirst();
  return {
    effective: async (projectId) => {
      const row = await read(projectId);
      return row?.max_sessions ?? row?.default_project_max_sessions ?? null;
    },
    ofProject: async (projectId) => (await read(projectId))?.max_sessions ?? null,
    setOfProject: async (id, limit) => {
      await db.updateTable('projects').set({ max_sessions: limit }).where('id', '=', id).execute();
    },
    invocationsOfProject: async (id) => {
      const row = await db.selectFrom('projects').select('max_invocations').where('id', '=', id).executeTakeFirst();
      return row?.max_invocations ?? null;
    },
    setInvocationsOfProject: async (id, limit) => {
      await db.updateTable('projects').set({ max_invocations: limit }).where('id', '=', id).execute();
    },
    defaultOf: async (organizationId) => {
      const row = await db
        .selectFrom('organizations')
        .select('default_project_max_sessions')
        .where('id', '=', organizationId)
        .executeTakeFirst();
      return row?.default_project_max_sessions ?? null;
    },
    setDefaultOf: async (id, limit) => {
      await db.updateTable('organizations').set({ default_project_max_sessions: limit }).where('id', '=', id).execute();
    },
  };
}
