import os from 'node:os';
import type { SessionUsage } from '../../contract/organization-limits.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { Session, SessionEnd, SessionRecord } from './session.ts';

/** How many ended sessions can still be read; older ones are forgotten. */
const REMEMBERED_ENDED = 500;

/** What a session may need of memory, in bytes: idle ones take 150 MB, ones that show a page of today more. */
const SESSION_BYTES = 256 * 1024 * 1024;
/** The part of the machine's memory that sessions may have. */
const SESSIONS_SHARE = 0.75;

/** How many sessions fit into this machine's memory, or into what its container may have; at least two. */
export function sessionsThatFit(): number {
  const allowed = process.constrainedMemory();
  const memory = allowed > 0 ? Math.min(allowed, os.totalmem()) : os.totalmem();
  return Math.max(2, Math.floor((memory * SESSIONS_SHARE) / SESSION_BYTES));
}

/** Part of all places, and most of them, that pools leave to logins and health checks: a worker opens twelve at a time. */
const LOGINS_SHARE = 0.25;
const LOGINS_MOST = 12;

/** How many places pools leave to logins and health checks; one at least. */
function placesForLogins(maxSessions: number): number {
  return Math.min(LOGINS_MOST, Math.max(1, Math.ceil(maxSessions * LOGINS_SHARE)));
}

/** How a session that was there says why it is not any more. */
const END_WORDS: Record<Exclude<SessionEnd, 'crashed'>, string> = {
  deleted: 'it was deleted',
  timeout: 'it was left alone for longer than its timeout_seconds',
  shutdown: 'the browser service was stopped; create a new session',
  released: 'it was released to its pool; acquire another',
};

function whyEnded(endedBy: SessionEnd, crash: string | null): string {
  if (endedBy !== 'crashed') return END_WORDS[endedBy];
  return `its browser crashed (${crash ?? 'unknown'}); create a new session`;
}

/** Which sessions a list shows. */
export interface SessionFilter {
  status: 'active' | 'deleted' | 'all';
  query?: string | undefined;
  tags: Record<string, string>;
}

/** The sessions of this service: those that run, and the records of those that ended lately. */
export interface SessionRegistry {
  /** Running sessions, those that are just starting or wait in a pool included. */
  count(): number;
  /** How many there may be. */
  readonly max: number;
  /** How many of them the projects have, and how many more may be started. */
  usage(projects: readonly string[]): SessionUsage;
  /** How many of them pools may have: the others are for logins and health checks. */
  readonly maxPooled: number;
  /**
   * Takes a place for a session that is being started; throws `capacity_exhausted` or `already_exists`. `limit`: how many its
   * project may have; null for no limit.
   */
  reserve(record: SessionRecord, limit?: number | null): () => void;
  add(session: Session): void;
  /** Moves a session to the ended ones. */
  retire(session: Session): void;
  /** A running session of one of the projects by id or name, a name in the first project first; throws `not_found`. */
  running(projects: readonly string[], idOrName: string): Session;
  /** A running session by id, whatever its project, one that waits in a pool too: for URLs that carry their own token. */
  byId(id: string): Session | undefined;
  /** A record, of an ended session too when asked; throws `not_found`. */
  find(projects: readonly string[], idOrName: string, includeDeleted: boolean): SessionRecord;
  list(projects: readonly string[], filter: SessionFilter): SessionRecord[];
  assertNameFree(projectId: string, name: string, exceptId?: string): void;
  sessions(): Session[];
}

/** `maxSessions` bounds how many run at once. */
export function createSessionRegistry(maxSessions: number): SessionRegistry {
  const starting = new Set<SessionRecord>();
  const running = new Map<string, Session>();
  const ended = new Map<string, SessionRecord>();

  const activeRecords = (): SessionRecord[] => [...[...running.values()].map((session) => session.record), ...starting];
  const seen = (): SessionRecord[] =>
    [...running.values()].map((session) => session.record).filter((record) => !record.idle);
  const assertNameFree = (projectId: string, name: string, exceptId?: string): void => {
    const taken = activeRecords().find(
      (record) => record.projectId === projectId && record.name === name && record.id !== exceptId,
    );
    if (taken === undefined) return;
    throw new HoldfastError('already_exists', 'name: already used by a running session of this project', {
      existingId: taken.id,
    });
  };
  const notFound = (projects: readonly string[], idOrName: string): HoldfastError => {
    const record = ended.get(idOrName);
    const why =
      record !== undefined && projects.includes(record.projectId) && record.endedBy !== null
        ? whyEnded(record.endedBy, record.crash)
        : 'it may have ended';
    return new HoldfastError('not_found', `Browser session not found: ${idOrName.slice(0, 100)}; ${why}`);
  };

  const forLogins = placesForLogins(maxSessions);
  /** Places that a session of a pool must leave free: those for logins that none of them has now. */
  const keptFree = (record: SessionRecord): number =>
    record.pool === null ? 0 : Math.max(0, forLogins - activeRecords().filter(({ managedAuth }) => managedAuth).length);

  return {
    max: maxSessions,
    maxPooled: maxSessions - forLogins,
    count: () => running.size + starting.size,
    usage: (projects) => ({
      used: activeRecords().filter(({ projectId }) => projects.includes(projectId)).length,
      available: Math.max(0, maxSessions - running.size - starting.size),
    }),
    reserve: (record, limit = null) => {
      if (record.name !== undefined) assertNameFree(record.projectId, record.name);
      if (running.size + starting.size >= maxSessions) {
        throw new HoldfastError(
          'capacity_exhausted',
          `All ${String(maxSessions)} browser sessions are in use; delete one, retry later, or raise BROWSER_MAX_SESSIONS`,
          { retryAfterSeconds: 5 },
        );
      }
      const kept = keptFree(record);
      if (running.size + starting.size >= maxSessions - kept) {
        throw new HoldfastError(
          'capacity_exhausted',
          `The pool cannot be filled: of ${String(maxSessions)} browser sessions, ${String(kept)} that are free are kept for ` +
            'logins and health checks; delete sessions, make pools smaller, or raise BROWSER_MAX_SESSIONS',
          { retryAfterSeconds: 5 },
        );
      }
      const ofProject = activeRecords().filter(({ projectId }) => projectId === record.projectId).length;
      if (limit !== null && ofProject >= limit) {
        throw new HoldfastError(
          'capacity_exhausted',
          `The project has its ${String(limit)} browser sessions; end one, or raise max_concurrent_sessions of its limits`,
          { retryAfterSeconds: 5 },
        );
      }
      starting.add(record);
      return () => starting.delete(record);
    },
    add: (session) => {
      starting.delete(session.record);
      running.set(session.record.id, session);
    },
    retire: (session) => {
      if (!running.delete(session.record.id) || session.record.idle) return;
      ended.set(session.record.id, session.record);
      const oldest = ended.keys().next();
      if (ended.size > REMEMBERED_ENDED && oldest.done !== true) ended.delete(oldest.value);
    },
    running: (projects, idOrName) => {
      const found = choose(projects, idOrName, seen());
      const session = found === undefined ? undefined : running.get(found.id);
      if (session === undefined) throw notFound(projects, idOrName);
      return session;
    },
    byId: (id) => running.get(id),
    find: (projects, idOrName, includeDeleted) => {
      const candidates = seen();
      if (includeDeleted) candidates.push(...[...ended.values()].reverse());
      const found = choose(projects, idOrName, candidates);
      if (found === undefined) throw notFound(projects, idOrName);
      return found;
    },
    list: (projects, filter) => {
      const active = filter.status === 'deleted' ? [] : seen();
      const deleted = filter.status === 'active' ? [] : [...ended.values()];
      return [...active, ...deleted]
        .filter((record) => projects.includes(record.projectId) && matches(record, filter))
        .sort((left, right) => right.createdAt.getTime() - left.createdAt.getTime());
    },
    assertNameFree,
    sessions: () => [...running.values()],
  };
}

/** The record of that id, else the first of that name, by the order of the projects. */
function choose(
  projects: readonly string[],
  idOrName: string,
  records: readonly SessionRecord[],
): SessionRecord | undefined {
  const visible = records.filter((record) => projects.includes(record.projectId));
  const byId = visible.find((record) => record.id === idOrName);
  if (byId !== undefined) return byId;
  const named = visible.filter((record) => record.name === idOrName);
  return projects
    .map((project) => named.find((record) => record.projectId === project))
    .find((one) => one !== undefined);
}

function matches(record: SessionRecord, { query, tags }: SessionFilter): boolean {
  const texts = [record.id, record.name, record.profile?.id, record.profile?.name, record.proxy?.id];
  const found = query === undefined || texts.some((text) => text?.toLowerCase().includes(query.toLowerCase()));
  return found && Object.entries(tags).every(([key, value]) => record.tags?.[key] === value);
}
