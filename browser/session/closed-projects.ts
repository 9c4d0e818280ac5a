import type { Logger } from '../logger.ts';
import type { SessionLifecycle } from './lifecycle.ts';
import type { SessionRegistry } from './registry.ts';

const CHECK_INTERVAL_MS = 5000;

interface ClosedProjectsDeps {
  registry: Pick<SessionRegistry, 'sessions'>;
  lifecycle: Pick<SessionLifecycle, 'end'>;
  logger: Logger;
  /** Returns those of the projects that were archived or deleted. */
  closedProjects: (projectIds: readonly string[]) => Promise<string[]>;
  everyMs?: number;
}

/**
 * Ends the sessions of archived and deleted projects within seconds. It polls, so that neither a restart nor a session
 * that was just starting is missed. Returns the function that stops it.
 */
export function endSessionsOfClosedProjects(deps: ClosedProjectsDeps): () => void {
  const { registry, lifecycle, logger, closedProjects, everyMs = CHECK_INTERVAL_MS } = deps;
  const check = async (): Promise<void> => {
    const projects = [...new Set(registry.sessions().map(({ record }) => record.projectId))];
    if (projects.length === 0) return;
    const closed = new Set(await closedProjects(projects));
    const sessions = registry.sessions().filter(({ record }) => closed.has(record.projectId));
    await Promise.all(sessions.map((session) => lifecycle.end(session, 'deleted')));
  };
  let checking = false;
  const timer = setInterval(() => {
    if (checking) return;
    checking = true;
    void check()
      .catch(() => {
        logger.warn({}, 'failed to check for closed projects');
      })
      .finally(() => {
        checking = false;
      });
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
