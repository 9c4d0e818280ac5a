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

/** Whether the domain attribute holds the domain itself or its {@link domainHash}. */
export interface SearchOptions {
  domains: 'hashed' | 'clear';
}

/** True if the namespace knows Holdfast's search attributes; on an external server an operator registers them. */
export async function hasSearchAttributes(
  connection: Pick<Connection, 'operatorService'>,
  namespace: string,
): Promise<boolean> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return SEARCH_ATTRIBUTES.every(({ name }) => name in customAttributes);
  } catch {
    // Temporal Cloud and some operators deny this call; connections then have no search attributes.
    return false;
  }
}

/** The initial search attributes of a connection's workflow, which updates its status later. */
export function searchAttributesOf(
  identityKey: Buffer,
  connection: { organizationId: string; domain: string },
  { domains }: SearchOptions,
): SearchAttributePair[] {
  const domain = domains === 'clear' ? connection.domain : domainHash(identityKey, connection.domain);
  return [
    { key: ORGANIZATION_ATTRIBUTE, value: connection.organizationId },
    { key: DOMAIN_ATTRIBUTE, value: domain },
    { key: STATUS_ATTRIBUTE, value: 'NEEDS_AUTH' },
  ];
}

/** The keyed hash of a domain in search attributes: 16 hex digits. */
export function domainHash(identityKey: Buffer, domain: string): string {
  return createHmac('sha256', identityKey).update(`domain ${domain}`).digest('hex').slice(0, 16);
}
