import { createHmac } from 'node:crypto';
import type { Connection } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import {
  DOMAIN_ATTRIBUTE,
  ORGANIZATION_ATTRIBUTE,
  SEARCH_ATTRIBUTES,
  STATUS_ATTRIBUTE,
} from '../workflows/search-attributes.ts';

export { SEARCH_ATTRIBUTES };

/** How connections are found in Temporal's UI: by domains as they are, or by the hash that {@link domainHash} makes. */
export interface SearchOptions {
  domains: 'hashed' | 'clear';
}

/** True when the namespace knows Holdfast's search attributes; an operator of a server elsewhere registers them. */
export async function hasSearchAttributes(
  connection: Pick<Connection, 'operatorService'>,
  namespace: string,
): Promise<boolean> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return SEARCH_ATTRIBUTES.every(({ name }) => name in customAttributes);
  } catch {
    // Temporal Cloud and careful operators do not let everybody ask: connections are kept without them.
    return false;
  }
}

/** What a connection's workflow is found by from its start. Its status follows as it changes. */
export function searchAttributesOf(
  identityKey: Buffer,
  place: { organizationId: string; domain: string },
  { domains }: SearchOptions,
): SearchAttributePair[] {
  const domain = domains === 'clear' ? place.domain : domainHash(identityKey, place.domain);
  return [
    { key: ORGANIZATION_ATTRIBUTE, value: place.organizationId },
    { key: DOMAIN_ATTRIBUTE, value: domain },
    { key: STATUS_ATTRIBUTE, value: 'NEEDS_AUTH' },
  ];
}

/** A domain as it stands in search attributes: 16 hex digits, the same for the same domain and key. */
export function domainHash(identityKey: Buffer, domain: string): string {
  return createHmac('sha256', identityKey).update(`domain ${domain}`).digest('hex').slice(0, 16);
}
