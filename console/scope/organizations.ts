import { useEffect } from 'react';
import { call } from '../calls/call.ts';

const STORAGE_KEY = 'holdfast-organization';

/** Switches the session to another organization and opens an address. Rejects with `CallError`. */
export async function switchOrganization(id: string, address: string): Promise<void> {
  await call('POST', '/session/organization', { id });
  localStorage.setItem(STORAGE_KEY, id);
  location.assign(address);
}

/**
 * Leaves the page if another tab switches organizations: tabs share one session, so input here would go to the other
 * organization.
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
