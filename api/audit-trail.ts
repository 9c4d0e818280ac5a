import type { IncomingHttpHeaders } from 'node:http';
import type { AuditLogEntry } from '../contract/audit-logs.ts';
import type { Scope } from '../store/scope.ts';
import { DEFAULT_ORGANIZATION_ID } from '../store/store.ts';
import { createAuditWriter } from './audit-writer.ts';
import type { ApiDeps } from './context.ts';
import { createStrangerBudget, type LeftOut } from './stranger-budget.ts';

/** How often it is looked for requests that were left out, in milliseconds. */
const COUNT_EVERY_MS = 60_000;

/** Whom a row belongs to, and by what they were known. */
export interface AuditOwner {
  scope: Scope;
  strategy: string;
  userId: string;
  email: string;
}

/** A request as it was received and answered. */
export interface AuditedCall {
  at: Date;
  ip: string;
  /** Empty for what was no HTTP. */
  method: string;
  url: string;
  route: string;
  headers: IncomingHttpHeaders;
  status: number;
  durationMs: number;
}

/** Writes rows of the audit log. */
export interface AuditTrail {
  /** Resolves when the row is in the log; rejects when it could not be written. */
  write(owner: AuditOwner, call: AuditedCall): Promise<void>;
  /** The same for those who are not waited for: a fault is logged. */
  note(owner: AuditOwner, call: AuditedCall): void;
  /**
   * A request of somebody who is not known, or no more: of the organization whose key its bearer once was, else of the
   * installation. So many in a minute leave a row; the others are counted in one. Nobody waits for it.
   */
  noteStranger(call: AuditedCall): void;
  /** The same where a browser URL was taken by its token, whose claims the browser service has thereby checked. */
  noteBrowserToken(token: string, call: AuditedCall): void;
  close(): Promise<void>;
}

/** Strangers are the operator's to know of: their rows are in the organization that every installation begins with. */
const INSTALLATION: AuditOwner = {
  scope: { organizationId: DEFAULT_ORGANIZATION_ID, projectId: null },
  strategy: 'none',
  userId: '',
  email: '',
};

/** The trail of one process. */
export function createAuditTrail(deps: Pick<ApiDeps, 'store' | 'logger' | 'clock'>): AuditTrail {
  const { store, logger, clock } = deps;
  const writer = createAuditWriter(deps);
  const budget = createStrangerBudget();
  const underWay = new Set<Promise<void>>();

  const write: AuditTrail['write'] = ({ scope, strategy, userId, email }, call) =>
    writer.write({
      organizationId: scope.organizationId,
      projectId: scope.projectId,
      entry: { ...entryOf(call), auth_strategy: strategy, user_id: userId, email },
    });
  const follow = (work: Promise<void>, route: string): void => {
    const done = work
      .catch(() => logger.error({ route }, 'audit row could not be written'))
      .finally(() => underWay.delete(done));
    underWay.add(done);
  };
  const countLeftOut = (whole: boolean): void => {
    for (const leftOut of budget.takeLeftOut(clock(), whole)) follow(write(INSTALLATION, rowOf(leftOut)), '');
  };
  const timer = setInterval(() => countLeftOut(false), COUNT_EVERY_MS);
  timer.unref();

  async function ownerOfBearer(call: AuditedCall): Promise<AuditOwner> {
    const token = /^bearer +(\S{1,4096})$/i.exec(call.headers.authorization ?? '')?.[1];
    const key = token === undefined ? null : await store.apiKeys.findOwner(token);
    if (key === null) return INSTALLATION;
    const { organizationId, projectId, createdBy } = key;
    return { scope: { organizationId, projectId }, strategy: 'api_key', userId: createdBy.id, email: createdBy.email };
  }

  async function ownerOfBrowserToken(token: string): Promise<AuditOwner> {
    const projectId = projectOfToken(token);
    const organizationId = projectId === null ? null : await store.projects.organizationOf(projectId);
    if (organizationId === null) return { ...INSTALLATION, strategy: 'browser_token' };
    return { ...INSTALLATION, scope: { organizationId, projectId }, strategy: 'browser_token' };
  }

  return {
    write,
    note: (owner, call) => follow(write(owner, call), call.route),
    noteStranger: (call) => {
      if (!budget.admit(call.ip, clock())) return;
      follow(
        ownerOfBearer(call).then((owner) => write(owner, call)),
        call.route,
      );
    },
    noteBrowserToken: (token, call) =>
      follow(
        ownerOfBrowserToken(token).then((owner) => write(owner, call)),
        call.route,
      ),
    close: async () => {
      clearInterval(timer);
      countLeftOut(true);
      await Promise.all(underWay);
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
    path: textOf(url.split('?', 1)[0], 2048),
    route,
    domain: textOf(headers.host, 255),
    duration_ms: Math.round(durationMs),
    client_ip: ip,
    user_agent: textOf(headers['user-agent'], 512),
  };
}

function rowOf({ at, address, count }: LeftOut): AuditedCall {
  const route = `${count} requests left out`;
  return { at, ip: address, method: '', url: '', route, headers: {}, status: 0, durationMs: 0 };
}

/** What the project of a session is, as the browser service has written it into the token of its URL. */
function projectOfToken(token: string): string | null {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    if (typeof claims !== 'object' || claims === null || !('project' in claims)) return null;
    return typeof claims.project === 'string' && !claims.project.includes('\0') ? claims.project : null;
  } catch {
    return null;
  }
}

/** Without NUL, which the database refuses. */
function textOf(text: string | undefined, length: number): string {
  return (text ?? '').slice(0, length).replaceAll('\0', '');
}
