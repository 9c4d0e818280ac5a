import { createHmac, randomBytes } from 'node:crypto';

/** What there is one connection for. */
export interface ConnectionPlace {
  projectId: string;
  profileName: string;
  domain: string;
}

/** Length of the part of a connection's id that names its workflow. */
const PLACE_LENGTH = 32;

/**
 * A new connection id: the first part is a keyed hash of the place, so that the same place always meets the same
 * workflow; the second is random, so that a connection made after a deletion has an id of its own.
 */
export function connectionIdFor(identityKey: Buffer, place: ConnectionPlace): string {
  const words = JSON.stringify([place.projectId, place.profileName, place.domain]);
  const named = createHmac('sha256', identityKey).update(words).digest('hex').slice(0, PLACE_LENGTH);
  return `conn_${named}${randomBytes(8).toString('hex')}`;
}

/** The workflow that holds a connection. Says nothing of profile or domain to who has no key. */
export function workflowIdOf(connectionId: string): string {
  return `connection-${connectionId.slice('conn_'.length, 'conn_'.length + PLACE_LENGTH)}`;
}
