import type { ColumnType, Generated } from 'kysely';
import type { AppAction, DeploymentStatus, InvocationStatus } from '../../contract/apps.ts';
import type { Json } from './columns.ts';

/** Programs of users: what was deployed, and what was run. */
export interface AppTables {
  deployments: {
    id: string;
    organization_id: string;
    project_id: string;
    status: DeploymentStatus;
    status_reason: string | null;
    entrypoint: string;
    version: string;
    force: boolean;
    env_names: Json<string[]>;
    /** Null when what the deployment was made of is deleted. */
    sealed_env_vars: Buffer | null;
    /** A ZIP archive that was kept before they were sealed, until the sweeper comes by. */
    archive: Buffer | null;
    /** A ZIP archive. Null when it is deleted, or not sealed yet. */
    sealed_archive: Buffer | null;
    /** SHA-256 of the archive, in hex. */
    checksum: string;
    /** Where it was fetched; null for an archive that was sent. */
    repository: ColumnType<{ url: string; ref: string; path?: string } | null, string | null, string | null>;
    /** Lower-case names of its apps. */
    search: string;
    /** How many events it has: the number of the last. */
    event_count: Generated<number>;
    created_at: Date;
    updated_at: Date;
  };
  app_versions: {
    id: string;
    organization_id: string;
    project_id: string;
    deployment_id: string;
    app_name: string;
    version: string;
    actions: Json<AppAction[]>;
    search: string;
    created_at: Date;
  };
  invocations: {
    id: string;
    organization_id: string;
    project_id: string;
    deployment_id: string;
    app_name: string;
    version: string;
    action_name: string;
    status: InvocationStatus;
    sealed_payload: Buffer | null;
    sealed_outcome: Buffer | null;
    retries: number;
    /** Lower-case names of app and action. */
    search: string;
    event_count: Generated<number>;
    started_at: Date;
    /** When its time is over. */
    expires_at: Date;
    finished_at: Date | null;
  };
  app_events: {
    id: string;
    organization_id: string;
    /** A deployment or an invocation. */
    subject_id: string;
    number: number;
    at: Date;
    sealed_body: Buffer;
  };
}
