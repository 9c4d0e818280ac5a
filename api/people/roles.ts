import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import { CONFIRMED_FOR_MS, isAtLeast, type Role } from '../../contract/people.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { UserCaller } from '../caller.ts';

/** Paths whose writes are for owners: what decides who reaches the organization and how far. */
const OWNED = ['/org/', '/projects', '/audit-logs/export/'];
/** Paths whose answers let the reader into browsers that are logged in. */
const OPENING = ['/browsers', '/browser_pools'];

/** What of a route decides which people may use it. */
type RouteRules = Pick<FastifyContextConfig, 'role' | 'needsConfirmation' | 'answersSecret'>;

/**
 * Holds a person to their role: what a route says, else reading for all and everything more for operators. Where a secret is
 * shown or replaced they must have proved lately who they are.
 * @throws HoldfastError `forbidden`, `confirmation_required`
 */
export function requireRole(
  caller: UserCaller,
  { method, routeOptions: { url = '', config } }: Pick<FastifyRequest, 'method' | 'routeOptions'>,
  now: Date,
): void {
  const rules: RouteRules = config;
  const needed = neededRole(method, url, rules);
  if (!isAtLeast(caller.role, needed)) {
    throw new HoldfastError(
      'forbidden',
      `This requires the role ${needed}, yours is ${caller.role}; ask an owner of the organization`,
    );
  }
  if (rules.needsConfirmation !== true || isConfirmed(caller, now)) return;
  throw new HoldfastError(
    'confirmation_required',
    caller.session === null
      ? 'OAuth clients may not do this; do it in the console'
      : 'This shows or replaces a secret; confirm your identity with POST /session/confirm, then send it again',
  );
}

function neededRole(method: string, url: string, { role, answersSecret }: RouteRules): Role {
  if (role !== undefined) return role;
  const isUnder = (paths: readonly string[]): boolean => paths.some((path) => url.startsWith(path));
  const isRead = ['GET', 'HEAD'].includes(method);
  if (!isRead && isUnder(OWNED)) return 'owner';
  return isRead && answersSecret !== true && !isUnder(OPENING) ? 'viewer' : 'operator';
}

function isConfirmed({ session }: UserCaller, now: Date): boolean {
  const confirmedAt = session?.confirmedAt ?? null;
  return confirmedAt !== null && now.getTime() - confirmedAt.getTime() < CONFIRMED_FOR_MS;
}
