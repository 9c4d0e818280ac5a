import type { BrowserPoolConfig } from '../../contract/browser-pools.ts';
import type { ProxyProtocol, ProxyStatus } from '../../contract/proxies.ts';
import type { Json } from './columns.ts';

/** Resources of browser sessions, and their recordings. */
export interface BrowserTables {
  proxies: {
    id: string;
    organization_id: string;
    project_id: string;
    name: string | null;
    protocol: ProxyProtocol;
    host: string;
    port: number;
    username: string | null;
    /** Null without a password, and once the proxy is deleted. */
    sealed_password: Buffer | null;
    bypass_hosts: string[];
    /** Null before the first check. */
    status: ProxyStatus | null;
    last_checked_at: Date | null;
    /** Lower-case name and host, one per line. */
    search: string;
    created_at: Date;
    deleted_at: Date | null;
  };
  extensions: {
    id: string;
    organization_id: string;
    project_id: string;
    name: string | null;
    size_bytes: number;
    /** SHA-256 of the uploaded archive, in hex. */
    checksum: string;
    /** A ZIP archive. */
    archive: Buffer;
    /** Lower-case name. */
    search: string;
    created_at: Date;
    last_used_at: Date | null;
  };
  browser_pools: {
    id: string;
    organization_id: string;
    project_id: string;
    name: string | null;
    config: Json<BrowserPoolConfig>;
    /** The profile and extensions that the configuration referred to when it was set. */
    profile_id: string | null;
    extension_ids: string[];
    created_at: Date;
  };
  recordings: {
    id: string;
    organization_id: string;
    project_id: string;
    connection_id: string;
    session_id: string;
    bytes: number;
    started_at: Date;
    finished_at: Date;
    expires_at: Date;
  };
  recording_parts: {
    id: string;
    organization_id: string;
    recording_id: string;
    number: number;
    sealed_part: Buffer;
  };
}
