import type { IncomingHttpHeaders } from 'node:http';
import type { AuditLogEntry } from '../../contract/audit-logs.ts';
import type { AuditRecord } from '../../store/queries/audit-log.ts';
import type { Scope } from '../../store/scope.ts';
import { DEFAULT_ORGANIZATION_ID } from '../../store/store.ts';
import type { ApiDeps } from '../context.ts';
import { type SuppressedRequests, createAnonymousBudget } from './anonymous-budget.ts';

/** Interval at which counts of suppressed requests are written, in milliseconds. */
const SUPPRESSED_INTERVAL_MS = 60_000;

/** Who a row belongs to, and how they authenticated. */
export interface AuditPrincipal {
  scope: Scope;
  strategy: string;
  userId: string;
  email: string;
}

/** A request as it was received and answered. */
export interface AuditedCall {
  at: Date;
  ip: string;
  /** Empty if the request was not HTTP. */
  method: string;
  url: string;
  route: string;
  headers: IncomingHttpHeaders;
  status: number;
  durationMs: number;
}

/** Writes rows of the audit log. */
export interface AuditTrail {
  /** Resolves once the row is written; rejects if it cannot be. */
  write(principal: AuditPrincipal, call: AuditedCall): Promise<void>;
  /** Writes in the background; a failure is logged. */
  record(principal: AuditPrincipal, call: AuditedCall): void;
  /**
   * Records an unauthenticated request in the background, for the organization whose revoked key it carries, otherwise for the
   * installation. Beyond a number per minute, requests are only counted.
   */
  recordAnonymous(call: AuditedCall): void;
  /** Records, in the background, a request with a browser token that the browser service has accepted. */
  recordBrowserToken(token: string, call: AuditedCall): void;
  close(): Promise<void>;
}

/** Anonymous requests concern the operator: their rows belong to the initial organization of every installation. */
const INSTALLATION: AuditPrincipal = {
  scope: { organizationId: DEFAULT_ORGANIZATION_ID, projectId: null },
  strategy: 'none',
  userId: '',
  email: '',
};

/** Creates the audit trail of one process. */
export function createAuditTrail(deps: Pick<ApiDeps, 'store' | 'logger' | 'clock'>): AuditTrail {
  const { store, logger, clock } = deps;
  const writer = createAuditWriter(deps);
  const budget = createAnonymousBudget();
  const inProgress = new Set<Promise<void>>();

  const write: AuditTrail['write'] = ({ scope, strategy, userId, email }, call) =>
    writer.write({
      organizationId: scope.organizationId,
      projectId: scope.projectId,
      entry: { ...entryOf(call), auth_strategy: strategy, user_id: userId, email },
    });
  const inBackground = (work: Promise<void>, route: string): void => {
    const done = work
      .catch(() => logger.error({ route }, 'audit row could not be written'))
      .finally(() => inProgress.delete(done));
    inProgress.add(done);
  };
  const recordFor = (resolving: Promise<AuditPrincipal>, call: AuditedCall): void => {
    const work = resolving.then((principal) => write(principal, call));
    inBackground(work, call.route);
  };
  const writeSuppressed = (includeCurrent: boolean): void => {
    for (const suppressed of budget.takeSuppressed(clock(), includeCurrent))
      inBackground(write(INSTALLATION, toSuppressedCall(suppressed)), '');
  };
  const timer = setInterval(() => writeSuppressed(false), SUPPRESSED_INTERVAL_MS);
  timer.unref();

  async function principalOfRevokedKey(call: AuditedCall): Promise<AuditPrincipal> {
    const token = /^bearer +(\S{1,4096})$/i.exec(call.headers.authorization ?? '')?.[1];
    const key = token === undefined ? null : await store.apiKeys.findOwner(token);
    if (key === null) return INSTALLATION;
    const { organizationId, projectId, createdBy } = key;
    return { scope: { organizationId, projectId }, strategy: 'api_key', userId: createdBy.id, email: createdBy.email };
  }

  async function principalOfBrowserToken(token: string): Promise<AuditPrincipal> {
    const projectId = projectOfToken(token);
    const organizationId = projectId === null ? null : await store.projects.organizationOf(projectId);
    if (organizationId === null) return { ...INSTALLATION, strategy: 'browser_token' };
    return { ...INSTALLATION, scope: { organizationId, projectId }, strategy: 'browser_token' };
  }

  return {
    write,
    record: (principal, call) => inBackground(write(principal, call), call.route),
    recordAnonymous: (call) => {
      if (budget.admit(call.ip, clock())) recordFor(principalOfRevokedKey(call), call);
    },
    recordBrowserToken: (token, call) => recordFor(principalOfBrowserToken(token), call),
    close: async () => {
      clearInterval(timer);
      writeSuppressed(true);
      await Promise.all(inProgress);
      await writer.drain();
    },
  };
}

function entryOf(call: AuditedCall): Omit<AuditLogEntry, 'auth_strategy' | 'user_id' | 'email'> {
  const { at, ip, method, url, route, headers, status, durationMs } = call;
  return {
    timestamp: at.toISOString(),
    status,
    method,
    path: sanitize(url.split('?', 1)[0], 2048),
    route,
    domain: sanitize(headers.host, 255),
    duration_ms: Math.round(durationMs),
    client_ip: ip,
    user_agent: sanitize(headers['user-agent'], 512),
  };
}

function toSuppressedCall({ at, address, count }: SuppressedRequests): AuditedCall {
  const route = `${count} requests left out`;
  return { at, ip: address, method: '', url: '', route, headers: {}, status: 0, durationMs: 0 };
}

/** The project of a session, from the claims of its browser token; null if it cannot be read. */
function projectOfToken(token: string): string | null {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    if (typeof claims !== 'object' || claims === null || !('project' in claims)) return null;
    return typeof claims.project === 'string' && !claims.project.includes('\0') ? claims.project : null;
  } catch {
    return null;
  }
}

/** Truncates and drops NUL, which the database rejects. */
function sanitize(text: string | undefined, length: number): string {
  return (text ?? '').slice(0, length).replaceAll('\0', '');
}

/** Maximum rows per write. */
const MAX_ROWS_PER_WRITE = 500;

/** Writes audit rows, batching those that are pending at the same time. */
function createAuditWriter({ store }: Pick<ApiDeps, 'store'>) {
  const pending: AuditRecord[] = [];
  /** The next batch; rows that arrive during a write share it. */
  let next: Promise<void> | null = null;
  let last: Promise<void> = Promise.resolve();

  const writeAll = async (): Promise<void> => {
    await last.catch(() => undefined);
    next = null;
    const batch = pending.splice(0);
    for (let from = 0; from < batch.length; from += MAX_ROWS_PER_WRITE)
      await store.auditLog.append(batch.slice(from, from + MAX_ROWS_PER_WRITE));
  };
  return {
    /** Resolves once the row is written; rejects if it cannot be. */
    write: (record: AuditRecord): Promise<void> => {
      pending.push(record);
      if (next === null) last = next = writeAll();
      return next;
    },
    /** Resolves once no row is pending. */
    drain: (): Promise<void> => last.catch(() => undefined),
  };
}
