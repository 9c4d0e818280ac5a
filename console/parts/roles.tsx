import { useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import type { Role } from '../../contract/people.ts';
import { sessionQuery } from '../calls/session.ts';

const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, owner: 2 };

/**
 * Role required to act on a page. Buttons and forms are hidden from people with a lower role, whose calls the API would reject.
 * Outside pages (sign-in, own session) nothing is hidden.
 */
export const RequiredRole = createContext<Role>('viewer');

/** True if a role includes the required one. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return RANK[role] >= RANK[needed];
}

/** True if the person may act on this page; false until the session is known. */
export function useCanAct(): boolean {
  const needed = useContext(RequiredRole);
  const role = useQuery(sessionQuery).data?.role ?? 'viewer';
  return isAtLeast(role, needed);
}
