import type { AuthStatus, TimelineEvent } from './connections.ts';

/** The type of the failure by which a check of a watch ends that has found the session as it was: it is tried again at its time. */
export const STILL_SIGNED_IN = 'still_signed_in';

/** A check's event as it begins: what was found, and when. Its id follows from the check's. Pure. */
export function checkEvent(
  checkId: string,
  status: AuthStatus,
  timestamp: string,
): Pick<TimelineEvent, 'id' | 'type' | 'status' | 'timestamp'> {
  return { id: `evt_${checkId.replaceAll('-', '')}`, type: 'health_check', status, timestamp };
}
