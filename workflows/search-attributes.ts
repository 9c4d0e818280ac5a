import { defineSearchAttributeKey } from '@temporalio/common';

/** Search attributes, which are not encrypted: opaque ids, values of a closed list, and a hash of the domain. */
export const DOMAIN_ATTRIBUTE = defineSearchAttributeKey('HoldfastDomain', 'KEYWORD');
export const STATUS_ATTRIBUTE = defineSearchAttributeKey('HoldfastStatus', 'KEYWORD');
export const ORGANIZATION_ATTRIBUTE = defineSearchAttributeKey('HoldfastOrganization', 'KEYWORD');

/** All of them: the server must know them before a workflow may use them. */
export const SEARCH_ATTRIBUTES = [DOMAIN_ATTRIBUTE, STATUS_ATTRIBUTE, ORGANIZATION_ATTRIBUTE] as const;
