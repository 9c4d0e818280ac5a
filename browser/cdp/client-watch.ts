import type { RawData } from 'ws';
import type { Session } from '../session/session.ts';
import type { ClientCommand } from './guard.ts';

/** How events that name a client's sessions start: the rest of what a browser says is passed on unread. */
const ATTACHED = '{"method":"Target.attachedToTarget"';

/** Watches one client for what its commands change about the session's pages. */
export interface ClientWatch {
  /** A command that goes to the browser. */
  sent(command: ClientCommand): void;
  /** A message that comes from it. */
  received(data: RawData): void;
  /** The client has gone. */
  closed(): void;
}

/**
 * Computer actions go to the page that was brought to front last, by whichever client: this is how the session learns.
 * It also learns which clients asked the browser to hold new pages until they have prepared them.
 */
export function createClientWatch(session: Session): ClientWatch {
  const targets = new Map<string, AttachedTarget>();
  /** For each session that holds new pages (the empty id is the browser itself): what gives that up. */
  const holds = new Map<string, () => void>();
  const { pages } = session.chromium;
  const release = (sessionId: string): void => {
    holds.get(sessionId)?.();
    holds.delete(sessionId);
  };
  const noteAutoAttach = (sessionId: string, params: Record<string, unknown>): void => {
    const type = targets.get(sessionId)?.type;
    // Windows come to sessions on the browser and on tabs; those on a page bring its frames and workers.
    if (sessionId !== '' && type !== 'browser' && type !== 'tab') return;
    const holdsPages =
      params['autoAttach'] === true && params['waitForDebuggerOnStart'] === true && attachesPages(params['filter']);
    if (!holdsPages) release(sessionId);
    else if (!holds.has(sessionId)) holds.set(sessionId, pages.holdNewPages());
  };

  return {
    sent: ({ method, params = {}, sessionId = '' }) => {
      const targetId = method === 'Target.activateTarget' ? params['targetId'] : targets.get(sessionId)?.targetId;
      const activates = method === 'Target.activateTarget' || method === 'Page.bringToFront';
      if (activates && typeof targetId === 'string') pages.activated(targetId);
      if (method === 'Target.setAutoAttach') noteAutoAttach(sessionId, params);
      if (method === 'Target.detachFromTarget') release(String(params['sessionId']));
    },
    received: (data) => {
      if (!Buffer.isBuffer(data) || data.toString('latin1', 0, ATTACHED.length) !== ATTACHED) return;
      const { params } = JSON.parse(data.toString('utf8')) as AttachedEvent;
      targets.set(params.sessionId, params.targetInfo);
    },
    closed: () => {
      for (const sessionId of holds.keys()) release(sessionId);
    },
  };
}

interface AttachedTarget {
  targetId: string;
  type: string;
}

interface AttachedEvent {
  params: { sessionId: string; targetInfo: AttachedTarget };
}

/** The first entry that fits a target decides; without a filter all but the browser itself and its tabs are attached. */
function attachesPages(filter: unknown): boolean {
  if (!Array.isArray(filter)) return true;
  const entries: unknown[] = filter;
  return ['page', 'tab'].some((type) => {
    const fitting = entries.find((entry): entry is { exclude?: unknown } => {
      const wanted = typeof entry === 'object' && entry !== null && 'type' in entry ? entry.type : undefined;
      return typeof entry === 'object' && entry !== null && (wanted === undefined || wanted === type);
    });
    return fitting !== undefined && fitting.exclude !== true;
  });
}
