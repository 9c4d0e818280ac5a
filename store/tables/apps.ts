import type { ColumnType, Generated } from 'kysely';
import type { AppAction, DeploymentStatus, InvocationStatus } from '../../contract/apps.ts';
import type { Json } from './columns.ts';

/** Users' programs: deployments and invocations. */
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
    /** Null once the program is deleted. */
    sealed_env_vars: Buffer | null;
    /** An unsealed ZIP archive of an older version, until the sweeper seals it. */
    archive: Buffer | null;
    /** A ZIP archive. Null if it is deleted or not sealed yet. */
    sealed_archive: Buffer | null;
    /** SHA-256 of the archive, in hex. */
    checksum: string;
    /** Where the program was fetched; null for an uploaded archive. */
    repository: ColumnType<{ url: string; ref: string; path?: string } | null, string | null, string | null>;
    /** Lower-case names of its apps. */
    search: string;
    /** The number of its last event. */
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
    /** The end of its timeout. */
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
