import { randomUUID } from 'node:crypto';
import type { AuditExportsClient } from '../../client/delivery-clients.ts';
import type { AuditExportActivities, ExportStep } from '../../contract/audit-export.ts';
import type { WorkflowTests } from './environment.ts';

/** Results of export steps, in order; after the last the destination is gone. */
export interface ExportWorld {
  steps: ExportStep[];
  exports: AuditExportActivities;
}

/** Creates a world in which nothing is to be exported. */
export function createExportWorld(): ExportWorld {
  const world: ExportWorld = {
    steps: [],
    exports: { exportNext: async () => world.steps.shift() ?? { next: 'none' } },
  };
  return world;
}

/** A destination that waits, gets deliveries, fails for a while, continues as new and is deleted. Returns its workflow's id. */
export async function exportUntilDeleted(
  tests: WorkflowTests,
  client: AuditExportsClient,
  world: ExportWorld,
): Promise<string> {
  const destinationId = randomUUID();
  world.steps = [
    { next: 'wait', afterMs: 600_000 },
    ...Array.from({ length: 60 }, () => ({ next: 'more' }) as const),
    { next: 'wait', afterMs: 60_000 },
    { next: 'more' },
  ];
  await client.wake(destinationId);
  const workflowId = `audit-export-${destinationId}`;
  await tests.env.client.workflow.getHandle(workflowId).result();
  return workflowId;
}
