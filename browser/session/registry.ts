import os from 'node:os';
import type { SessionUsage } from '../../contract/organization-limits.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { Session, SessionEnd, SessionRecord } from './session.ts';

/** Ended sessions whose records are kept; older ones are dropped. */
const REMEMBERED_ENDED = 500;

/** Memory estimate per session, in bytes: idle ones take 150 MB, ones that show a modern page more. */
const SESSION_BYTES = 256 * 1024 * 1024;
/** Share of the machine's memory that sessions may use. */
const SESSIONS_SHARE = 0.75;

/** How many sessions fit into the memory of this machine or container; at least two. */
export function defaultMaxSessions(): number {
  const allowed = process.constrainedMemory();
  const memory = allowed > 0 ? Math.min(allowed, os.totalmem()) : os.totalmem();
  return Math.max(2, Math.floor((memory * SESSIONS_SHARE) / SESSION_BYTES));
}

/** Share and maximum of sessions that pools leave free for logins and health checks: a worker opens twelve at a time. */
const LOGINS_SHARE = 0.25;
const MAX_FOR_LOGINS = 12;

const END_REASONS: Record<Exclude<SessionEnd, 'crashed'>, string> = {
  deleted: 'it was deleted',
  timeout: 'it was idle for longer than its timeout_seconds; create a new session',
  shutdown: 'the browser service was stopped; create a new session',
  released: 'it was released to its pool; acquire another',
};

/** Which sessions a list shows. */
interface SessionFilter {
  status: 'active' | 'deleted' | 'all';
  query?: string | undefined;
  tags: Record<string, string>;
}

/** The running sessions of this service, and the records of recently ended ones. */
export interface SessionRegistry {
  /** Running sessions, including starting ones and idle ones in pools. */
  count(): number;
  readonly max: number;
  /** How many sessions the projects use, and how many more can be started. */
  usage(projects: readonly string[]): SessionUsage;
  /** How many sessions pools may have; the rest is reserved for logins and health checks. */
  readonly maxPooled: number;
  /**
   * Reserves capacity for a session that is starting, and returns the function that releases it. Throws
   * `capacity_exhausted` or `already_exists`. `limit` is that of its project; null for none.
   */
  reserve(record: SessionRecord, limit?: number | null): () => void;
  add(session: Session): void;
  /** Moves a session to the ended ones. */
  retire(session: Session): void;
  /** A running session of the projects by id or name; names resolve in project order. Throws `not_found`. */
  running(projects: readonly string[], idOrName: string): Session;
  /** A running session by id, in any project and idle ones included: for URLs that carry their own token. */
  byId(id: string): Session | undefined;
  /** A session's record, optionally of an ended one. Throws `not_found`. */
  find(projects: readonly string[], idOrName: string, includeDeleted: boolean): SessionRecord;
  list(projects: readonly string[], filter: SessionFilter): SessionRecord[];
  assertNameFree(projectId: string, name: string, exceptId?: string): void;
  sessions(): Session[];
}

/** Creates a registry for up to `maxSessions` concurrent sessions. */
export function createSessionRegistry(maxSessions: number): SessionRegistry {
  const starting = new Set<SessionRecord>();
  const running = new Map<string, Session>();
  const ended = new Map<string, SessionRecord>();

  const runningRecords = (): SessionRecord[] => [...running.values()].map(({ record }) => record);
  const activeRecords = (): SessionRecord[] => [...runningRecords(), ...starting];
  const visibleRecords = (): SessionRecord[] => runningRecords().filter(({ idle }) => !idle);
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
    const reason =
      record !== undefined && projects.includes(record.projectId) ? endReason(record) : 'it may have ended';
    return new HoldfastError('not_found', `Browser session not found: ${idOrName.slice(0, 100)}; ${reason}`);
  };

  const reservedForLogins = Math.min(MAX_FOR_LOGINS, Math.max(1, Math.ceil(maxSessions * LOGINS_SHARE)));
  /** Capacity that a pooled session must leave free: the part reserved for logins that they do not use now. */
  const mustStayFree = (record: SessionRecord): number => {
    if (record.pool === null) return 0;
    return Math.max(0, reservedForLogins - activeRecords().filter(({ managedAuth }) => managedAuth).length);
  };

  return {
    max: maxSessions,
    maxPooled: maxSessions - reservedForLogins,
    count: () => running.size + starting.size,
    usage: (projects) => ({
      used: activeRecords().filter(({ projectId }) => projects.includes(projectId)).length,
      available: Math.max(0, maxSessions - running.size - starting.size),
    }),
    reserve: (record, limit = null) => {
      if (record.name !== undefined) assertNameFree(record.projectId, record.name);
      const inUse = running.size + starting.size;
      if (inUse >= maxSessions) {
        throw capacityExhausted(
          `All ${String(maxSessions)} browser sessions are in use; delete one, retry later, or raise BROWSER_MAX_SESSIONS`,
        );
      }
      const reserved = mustStayFree(record);
      if (inUse >= maxSessions - reserved) {
        throw capacityExhausted(
          `The pool cannot be filled: of ${String(maxSessions)} browser sessions, ${String(reserved)} are reserved for ` +
            'logins and health checks; delete sessions, shrink pools, or raise BROWSER_MAX_SESSIONS',
        );
      }
      const ofProject = activeRecords().filter(({ projectId }) => projectId === record.projectId).length;
      if (limit !== null && ofProject >= limit) {
        throw capacityExhausted(
          `The project has reached its limit of ${String(limit)} browser sessions; ` +
            'end one, or raise its max_concurrent_sessions limit',
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
      const found = resolveRecord(projects, idOrName, visibleRecords());
      const session = found === undefined ? undefined : running.get(found.id);
      if (session === undefined) throw notFound(projects, idOrName);
      return session;
    },
    byId: (id) => running.get(id),
    find: (projects, idOrName, includeDeleted) => {
      const candidates = visibleRecords();
      if (includeDeleted) candidates.push(...[...ended.values()].reverse());
      const found = resolveRecord(projects, idOrName, candidates);
      if (found === undefined) throw notFound(projects, idOrName);
      return found;
    },
    list: (projects, filter) => {
      const active = filter.status === 'deleted' ? [] : visibleRecords();
      const deleted = filter.status === 'active' ? [] : [...ended.values()];
      return [...active, ...deleted]
        .filter((record) => projects.includes(record.projectId) && matches(record, filter))
        .sort((left, right) => right.createdAt.getTime() - left.createdAt.getTime());
    },
    assertNameFree,
    sessions: () => [...running.values()],
  };
}

function capacityExhausted(message: string): HoldfastError {
  return new HoldfastError('capacity_exhausted', message, { retryAfterSeconds: 5 });
}

function endReason({ endedBy, crash }: SessionRecord): string {
  if (endedBy === null) return 'it may have ended';
  if (endedBy !== 'crashed') return END_REASONS[endedBy];
  return `its browser crashed (${crash ?? 'unknown'}); create a new session`;
}

/** Finds a record by id, else by name, in the order of the projects. */
function resolveRecord(
  projects: readonly string[],
  idOrName: string,
  records: readonly SessionRecord[],
): SessionRecord | undefined {
  const visible = records.filter((record) => projects.includes(record.projectId));
  const byId = visible.find((record) => record.id === idOrName);
  if (byId !== undefined) return byId;
  const named = visible.filter((record) => record.name === idOrName);
  const [project] = projects.filter((id) => named.some((record) => record.projectId === id));
  return named.find((record) => record.projectId === project);
}

function matches(record: SessionRecord, { query, tags }: SessionFilter): boolean {
  const texts = [record.id, record.name, record.profile?.id, record.profile?.name, record.proxy?.id];
  const found = query === undefined || texts.some((text) => text?.toLowerCase().includes(query.toLowerCase()));
  return found && Object.entries(tags).every(([key, value]) => record.tags?.[key] === value);
}
