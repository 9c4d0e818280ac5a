import { defineSearchAttributeKey } from '@temporalio/common';

/**
 * What an operator finds workflows by in Temporal's UI. They stand there in the clear: opaque ids, a closed list of words, and
 * for the domain a keyed hash, unless the deployment says that domains may be read.
 */
export const DOMAIN_ATTRIBUTE = defineSearchAttributeKey('HoldfastDomain', 'KEYWORD');
export const STATUS_ATTRIBUTE = defineSearchAttributeKey('HoldfastStatus', 'KEYWORD');
export const ORGANIZATION_ATTRIBUTE = defineSearchAttributeKey('HoldfastOrganization', 'KEYWORD');

/** All of them: a server must know them before a workflow may carry them. */
export const SEARCH_ATTRIBUTES = [DOMAIN_ATTRIBUTE, STATUS_ATTRIBUTE, ORGANIZATION_ATTRIBUTE] as const;
