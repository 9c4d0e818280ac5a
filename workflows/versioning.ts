import type { WorkflowDefinitionOptions } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';

/** How a workflow moves between worker versions; nothing where workers have none, for then the server refuses to hear of it. */
export function movesBetweenVersions(
  versioningBehavior: NonNullable<WorkflowDefinitionOptions['versioningBehavior']>,
): () => WorkflowDefinitionOptions {
  return () => {
    const isVersioned = (workflowInfo().currentDeploymentVersion?.deploymentName ?? '') !== '';
    return isVersioned ? { versioningBehavior } : {};
  };
}
