import { useEffect } from 'react';
import { call } from '../calls/call.ts';

const KEPT_AS = 'holdfast-organization';

/** Goes on in another organization of the person, at an address of the console. Rejects with `CallError`. */
export async function enterOrganization(id: string, address: string): Promise<void> {
  await call('POST', '/session/organization', { id });
  localStorage.setItem(KEPT_AS, id);
  location.assign(address);
}

/**
 * Leaves a page whose session has gone to another organization in another tab: what is entered here would be done there, for
 * all tabs have one session.
 */
export function useLeaveWithSession(organizationId: string): void {
  useEffect(() => {
    const leave = ({ key, newValue }: StorageEvent): void => {
      if (key === KEPT_AS && newValue !== organizationId) location.assign('/console');
    };
    addEventListener('storage', leave);
    return () => removeEventListener('storage', leave);
  }, [organizationId]);
}
