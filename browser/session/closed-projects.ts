import type { Logger } from '../logger.ts';
import type { SessionLifecycle } from './lifecycle.ts';
import type { SessionRegistry } from './registry.ts';

/** How often projects are looked at, in milliseconds. */
const LOOK_EVERY_MS = 5000;

/** What {@link watchProjects} works with. */
export interface ProjectWatchDeps {
  registry: Pick<SessionRegistry, 'sessions'>;
  lifecycle: Pick<SessionLifecycle, 'end'>;
  logger: Logger;
  /** Those of the projects that were archived or deleted. */
  closedProjects: (projectIds: readonly string[]) => Promise<string[]>;
  everyMs?: number;
}

/**
 * Ends the sessions of projects that were archived or deleted, within seconds. It asks again and again, so that neither a killed
 * process nor a session that was just being started is missed. Answers what stops it.
 */
export function watchProjects({ registry, lifecycle, logger, closedProjects, everyMs }: ProjectWatchDeps): () => void {
  const look = async (): Promise<void> => {
    const projects = [...new Set(registry.sessions().map(({ record }) => record.projectId))];
    if (projects.length === 0) return;
    const closed = new Set(await closedProjects(projects));
    const sessions = registry.sessions().filter(({ record }) => closed.has(record.projectId));
    await Promise.all(sessions.map((session) => lifecycle.end(session, 'deleted')));
  };
  let looking = false;
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    void look()
      // A store that is away is asked again at the next turn.
      .catch(() => {
        logger.warn({}, 'failed to look for archived projects');
      })
      .finally(() => {
        looking = false;
      });
  }, everyMs ?? LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
