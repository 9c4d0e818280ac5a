import { createHmac, randomBytes } from 'node:crypto';

/** Length of the part of a connection's id that names its workflow. */
const WORKFLOW_PART_LENGTH = 32;

/** A connection id: a keyed hash, which leads to the same workflow for the same input, and a random part. */
export function connectionIdFor(
  identityKey: Buffer,
  { projectId, profileName, domain }: { projectId: string; profileName: string; domain: string },
): string {
  const input = JSON.stringify([projectId, profileName, domain]);
  const hash = createHmac('sha256', identityKey).update(input).digest('hex').slice(0, WORKFLOW_PART_LENGTH);
  return `conn_${hash}${randomBytes(8).toString('hex')}`;
}

/** The workflow id of a connection. Without the key it reveals neither profile nor domain. */
export function workflowIdOf(connectionId: string): string {
  return `connection-${connectionId.slice('conn_'.length, 'conn_'.length + WORKFLOW_PART_LENGTH)}`;
}
