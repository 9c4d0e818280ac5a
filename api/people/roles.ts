import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import { CONFIRMATION_LIFETIME_MS, isAtLeast, type Role } from '../../contract/people.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { UserCaller } from '../caller.ts';

/** Paths that only owners may write: they control who can access the organization. */
const OWNED = ['/org/', '/projects', '/audit-logs/export/'];
/** Paths whose responses give access to logged-in browsers. */
const OPENING = ['/browsers', '/browser_pools'];

/** Route settings that determine who may use it. */
type RouteRules = Pick<FastifyContextConfig, 'role' | 'needsConfirmation' | 'returnsSecret'>;

/**
 * Enforces a person's role: the route's own, else reads for everyone and writes for operators. Routes that show or replace a secret
 * require a recent confirmation of identity.
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

function neededRole(method: string, url: string, { role, returnsSecret }: RouteRules): Role {
  if (role !== undefined) return role;
  const isUnder = (paths: readonly string[]): boolean => paths.some((path) => url.startsWith(path));
  const isRead = ['GET', 'HEAD'].includes(method);
  if (!isRead && isUnder(OWNED)) return 'owner';
  return isRead && returnsSecret !== true && !isUnder(OPENING) ? 'viewer' : 'operator';
}

function isConfirmed({ session }: UserCaller, now: Date): boolean {
  const confirmedAt = session?.confirmedAt ?? null;
  return confirmedAt !== null && now.getTime() - confirmedAt.getTime() < CONFIRMATION_LIFETIME_MS;
}
