import { useEffect } from 'react';
import { call } from '../calls/call.ts';

const STORAGE_KEY = 'holdfast-organization';

/** Goes on in another organization of the person, at an address of the console. Rejects with `CallError`. */
export async function switchOrganization(id: string, address: string): Promise<void> {
  await call('POST', '/session/organization', { id });
  localStorage.setItem(STORAGE_KEY, id);
  location.assign(address);
}

/**
 * Leaves a page whose session has gone to another organization in another tab: what is entered here would be done there, for
 * all tabs have one session.
 */
export function useReloadOnOrganizationSwitch(organizationId: string): void {
  useEffect(() => {
    const leave = ({ key, newValue }: StorageEvent): void => {
      if (key === STORAGE_KEY && newValue !== organizationId) location.assign('/console');
    };
    addEventListener('storage', leave);
    return () => removeEventListener('storage', leave);
  }, [organizationId]);
}
