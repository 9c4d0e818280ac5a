import type { FetchedSource, GithubSource } from '../contract/apps.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { AppsClient } from '../client/apps-client.ts';
import type { AuditExportsClient } from '../client/delivery-clients.ts';
import type { ConnectionsClient } from '../client/connections-client.ts';
import type { AuditExportTest } from '../contract/audit-export.ts';
import type { Plan } from '../contract/limits.ts';
import type { ExternalCredentials } from '../credential-providers/external-credentials.ts';
import type { ExportTarget } from '../store/queries/audit-export-destinations.ts';
import type { OpenedProxy } from '../store/queries/proxies.ts';
import type { Store } from '../store/store.ts';
import type { OidcRule } from './people/oidc-rules.ts';
import type { ConsoleSettings } from './console/document.ts';

/** A Fastify instance whose routes are typed by their zod schemas. */
export type ApiServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** The workflow's result for an accepted message: the document after the change. */
export type Accepted = Awaited<ReturnType<ConnectionsClient['login']>>;
/** Settings of a connection to change; null clears one. */
export type SettingsChanges = Parameters<ConnectionsClient['configure']>[1];

/** The part of a pino logger that the API uses; writes only {@link LogFields}. */
export interface ApiLogger {
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** The only fields the API logs: never a URL, header, body, name or third-party error message. */
export interface LogFields {
  request_id?: string;
  method?: string;
  /** The matched route pattern, not the path, which may contain credential names. */
  route?: string;
  status?: number;
  duration_ms?: number;
  credential_id?: string;
  destination_id?: string;
  connection_id?: string;
  error_name?: string;
  error_code?: string;
  /** Stack frames in our code (`file:line`), without messages. */
  frames?: string[];
}

/** Which hosts a browser may be sent to; created from the egress policy at start-up. */
export interface AddressPolicy {
  /** True when the operator listed this host, for this port, in HOLDFAST_ALLOW_PRIVATE_HOSTS. */
  isListed(host: string, port: number): boolean;
  /** The name of the range that makes a literal address forbidden; null for a public address. */
  forbiddenRange(address: string): string | null;
}

/** A token bucket: `burst` requests at once, refilled at `perSecond`. */
export interface RateLimit {
  burst: number;
  perSecond: number;
}

/** An OpenID provider for signing in to the console. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Who may sign in; without rules, existing members only. */
  rules: readonly OidcRule[];
}

/** Settings of the API. */
export interface ApiSettings {
  /** Base URL of this service for callers and people, without a trailing slash. */
  publicUrl: string;
  plan: Plan;
  /** Retention of replays, in days. Default {@link RECORDING_DAYS}. */
  recordingDays?: number;
  /** If absent, people sign in with links, passwords and passkeys only. */
  oidc?: OidcSettings;
  /** Base URL and key of the browser service that /browsers is forwarded to. */
  browserBaseUrl: string;
  browserApiKey: string;
  /** Per client address, before authentication. Default {@link DEFAULT_RATE_LIMITS}. */
  addressRateLimit?: RateLimit;
  /** Per credential, after authentication. Default {@link DEFAULT_RATE_LIMITS}. */
  credentialRateLimit?: RateLimit;
  /** Proxies in front of this service whose X-Forwarded-For is trusted (Fastify's `trustProxy`). Default none. */
  trustProxy?: boolean | string;
  /** The role this installation exports the audit log with; without it, no export destination can be created. */
  exportServiceRoleArn?: string;
  /** Settings shown to the console; missing ones are null. */
  console?: Partial<ConsoleSettings>;
  /** Origins of the operator's own pages, which may call this service from a browser and embed its hosted page. */
  allowedOrigins?: readonly string[];
}

/** Default retention of replays, in days. */
export const RECORDING_DAYS = 7;

/** Generous: they stop a runaway client, not a busy one. */
export const DEFAULT_RATE_LIMITS: { address: RateLimit; credential: RateLimit } = {
  address: { burst: 2000, perSecond: 400 },
  credential: { burst: 1000, perSecond: 200 },
};

/** Health of the components that the service depends on, by name. */
export type HealthParts = Record<string, { ready: boolean; message?: string }>;

/** Whether a page loads through a proxy. `url` must be public; otherwise throws `invalid_input`. */
export type ProxyProbe = (proxy: OpenedProxy, url?: string) => Promise<boolean>;

/** Audit log exports. `test` assumes a destination's role and writes an object, as an export does. */
export interface AuditExports extends Pick<AuditExportsClient, 'wake'> {
  test(destination: ExportTarget): Promise<AuditExportTest>;
}

/** Dependencies of the API, supplied by the start-up code. */
export interface ApiDeps {
  store: Store;
  connections: ConnectionsClient;
  apps: AppsClient;
  settings: ApiSettings;
  addressPolicy: AddressPolicy;
  checkProxy: ProxyProbe;
  /** Fetches a program from its repository; its errors name the field at fault. */
  fetchSource: (source: GithubSource) => Promise<FetchedSource>;
  auditExports: AuditExports;
  externalCredentials: Pick<ExternalCredentials, 'test' | 'items'>;
  /** At least 32 bytes, the same in every API process. Signs handoff codes and hosted page tokens. */
  signingKey: Uint8Array;
  logger: ApiLogger;
  clock: () => Date;
  /** Checks every component; must not throw and must resolve within a few seconds. */
  health: () => Promise<HealthParts>;
}
