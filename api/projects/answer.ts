import type { Project } from '../../contract/projects.ts';
import type { ProjectRecord } from '../../store/queries/organizations.ts';

/** A project as it is answered. Projects are not changed or archived yet, so they are as they were made. */
export function presentProject(record: ProjectRecord): Project {
  const at = record.createdAt.toISOString();
  return { id: record.id, name: record.name, status: 'active', created_at: at, updated_at: at };
}
