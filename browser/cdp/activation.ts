import type { RawData } from 'ws';
import type { Session } from '../session/session.ts';
import type { ClientCommand } from './guard.ts';

/** How events that name a client's sessions start: the rest of what a browser says is passed on unread. */
const ATTACHED = '{"method":"Target.attachedToTarget"';

/** Watches one client for pages that it brings to front. */
export interface ActivationWatch {
  /** A command that goes to the browser. */
  sent(command: ClientCommand): void;
  /** A message that comes from it. */
  received(data: RawData): void;
}

/** Computer actions go to the page that was brought to front last, by whichever client: this is how the session learns. */
export function createActivationWatch(session: Session): ActivationWatch {
  const targets = new Map<string, string>();
  const { pages } = session.chromium;
  return {
    sent: ({ method, params, sessionId }) => {
      const targetId = method === 'Target.activateTarget' ? params?.['targetId'] : targets.get(sessionId ?? '');
      const activates = method === 'Target.activateTarget' || method === 'Page.bringToFront';
      if (activates && typeof targetId === 'string') pages.activated(targetId);
    },
    received: (data) => {
      if (!Buffer.isBuffer(data) || data.toString('latin1', 0, ATTACHED.length) !== ATTACHED) return;
      const { params } = JSON.parse(data.toString('utf8')) as AttachedEvent;
      if (params.targetInfo.type === 'page') targets.set(params.sessionId, params.targetInfo.targetId);
    },
  };
}

interface AttachedEvent {
  params: { sessionId: string; targetInfo: { targetId: string; type: string } };
}
