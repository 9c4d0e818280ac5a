import type { WorkflowDefinitionOptions } from '@temporalio/common';
import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import { authConnection } from './connection/connection.ts';
import { login, reauth } from './flow/flow-workflows.ts';
import { deployApp, invokeAction } from './apps.ts';
import { deliverWebhooks, exportAuditLog } from './deliveries.ts';

/** The workflows that a worker bundles, under the names of messages.ts. */
export { authConnection, login, reauth, deliverWebhooks, deployApp, exportAuditLog, invokeAction };

// A flow lives for minutes: it ends on the code that it began on. The entity lives for years and moves on, and what
// delivers for days goes with it.
setWorkflowOptions(movesBetweenVersions('AUTO_UPGRADE'), authConnection);
setWorkflowOptions(movesBetweenVersions('AUTO_UPGRADE'), deliverWebhooks);
setWorkflowOptions(movesBetweenVersions('AUTO_UPGRADE'), exportAuditLog);
setWorkflowOptions(movesBetweenVersions('PINNED'), login);
setWorkflowOptions(movesBetweenVersions('PINNED'), reauth);
setWorkflowOptions(movesBetweenVersions('PINNED'), deployApp);
setWorkflowOptions(movesBetweenVersions('PINNED'), invokeAction);

/** Workflows declare a versioning behavior only on versioned workers: the server rejects it elsewhere. */
function movesBetweenVersions(
  versioningBehavior: NonNullable<WorkflowDefinitionOptions['versioningBehavior']>,
): () => WorkflowDefinitionOptions {
  return () => {
    const isVersioned = (workflowInfo().currentDeploymentVersion?.deploymentName ?? '') !== '';
    return isVersioned ? { versioningBehavior } : {};
  };
}
