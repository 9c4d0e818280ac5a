import { DEFAULT_ORGANIZATION_ID } from '../../store/store.ts';
import { startBrowserRole } from '../browser-role.ts';
import { runRole } from './run-role.ts';

/**
 * Without an API beside it, the service serves the profiles of its sessions too. It knows no projects: those that its
 * callers name keep their profiles apart.
 */
await runRole('browser', (settings, keys) =>
  startBrowserRole(settings, keys, ({ profiles, projects }) => ({
    profileRecords: {
      create: async (projectId, name) => {
        await projects.create(DEFAULT_ORGANIZATION_ID, { id: projectId, name: projectId });
        return profiles.create(scopeOf(projectId), name === null ? {} : { name });
      },
      find: (projectId, idOrName) => profiles.find(scopeOf(projectId), idOrName),
      list: (projectId, page) => profiles.list(scopeOf(projectId), page),
      rename: (projectId, idOrName, name) => profiles.rename(scopeOf(projectId), idOrName, name),
      remove: (projectId, idOrName) => profiles.remove(scopeOf(projectId), idOrName),
    },
  })),
);

function scopeOf(projectId: string): { organizationId: string; projectId: string } {
  return { organizationId: DEFAULT_ORGANIZATION_ID, projectId };
}
