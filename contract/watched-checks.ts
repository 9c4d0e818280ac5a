/** The type of the failure by which a check of a watch ends that has found the session as it was: it is tried again at its time. */
export const STILL_SIGNED_IN = 'still_signed_in';

/** The id of a check's event. Pure. */
export function checkEventId(checkId: string): string {
  return `evt_${checkId.replaceAll('-', '')}`;
}
