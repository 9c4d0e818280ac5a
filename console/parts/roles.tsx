import { useQuery } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import type { Role } from '../../contract/people.ts';
import { sessionQuery } from '../calls/session.ts';

const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, owner: 2 };

/**
 * The role that what a page does takes. Buttons and forms that act are left out for whoever has less: the API would refuse them.
 * Outside pages (signing in, one's own session) nothing is left out.
 */
export const RequiredRole = createContext<Role>('viewer');

/** Whether somebody of a role may do, or see, what takes another. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return RANK[role] >= RANK[needed];
}

/** Whether the person may do what the page does; false while it is not known who they are. */
export function useCanAct(): boolean {
  const needed = useContext(RequiredRole);
  const role = useQuery(sessionQuery).data?.role ?? 'viewer';
  return isAtLeast(role, needed);
}
