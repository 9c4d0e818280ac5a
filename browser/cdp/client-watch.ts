import type { RawData } from 'ws';
import type { Session } from '../session/session.ts';
import type { ClientCommand } from './messages.ts';

/** Start of the events that announce a client's sessions; all other messages are passed on unparsed. */
const ATTACHED = '{"method":"Target.attachedToTarget"';

/** Tracks how a client's commands affect the session's pages. */
interface ClientWatch {
  /** A command is forwarded to the browser. */
  sent(command: ClientCommand): void;
  /** A message arrives from the browser. */
  received(data: RawData): void;
  /** The client has disconnected. */
  closed(): void;
}

/**
 * Records which page a client brings to front, since computer actions go to the frontmost page, and whether the client asked
 * the browser to pause new pages until it has prepared them.
 */
export function createClientWatch(session: Session): ClientWatch {
  const targets = new Map<string, AttachedEvent['params']['targetInfo']>();
  /** Release functions by session that pauses new pages; the empty id is the browser itself. */
  const holds = new Map<string, () => void>();
  const { pages } = session.chromium;
  const release = (sessionId: string): void => {
    holds.get(sessionId)?.();
    holds.delete(sessionId);
  };
  const noteAutoAttach = (sessionId: string, params: Record<string, unknown>): void => {
    const type = targets.get(sessionId)?.type;
    // Sessions on the browser and on tabs attach to windows; those on a page only to its frames and workers.
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

interface AttachedEvent {
  params: { sessionId: string; targetInfo: { targetId: string; type: string } };
}

/** The first matching entry decides; without a filter, all targets but the browser and its tabs are attached. */
function attachesPages(filter: unknown): boolean {
  if (!Array.isArray(filter)) return true;
  const entries: unknown[] = filter;
  return ['page', 'tab'].some((type) => {
    const match = entries.find((entry): entry is { exclude?: unknown } => {
      const wanted = typeof entry === 'object' && entry !== null && 'type' in entry ? entry.type : undefined;
      return typeof entry === 'object' && entry !== null && (wanted === undefined || wanted === type);
    });
    return match !== undefined && match.exclude !== true;
  });
}
