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

/** What the workflow answers to a message that it has taken: the document as it left it. */
export type Accepted = Awaited<ReturnType<ConnectionsClient['login']>>;
/** Changed settings of a connection; null clears. */
export type SettingsChanges = Parameters<ConnectionsClient['configure']>[1];

/** The part of a pino logger that the API uses. Only fields of {@link LogFields} are ever written. */
export interface ApiLogger {
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** Everything that may stand in a log line of the API: no URL, header, body, name or foreign error message. */
export interface LogFields {
  request_id?: string;
  method?: string;
  /** The matched route pattern, not the path: a path may hold the names of credentials. */
  route?: string;
  status?: number;
  duration_ms?: number;
  credential_id?: string;
  destination_id?: string;
  connection_id?: string;
  error_name?: string;
  error_code?: string;
  /** Places in our code (`file:line`), without messages. */
  frames?: string[];
}

/** Which hosts a browser may be sent to. The start-up code makes it from the egress policy. */
export interface AddressPolicy {
  /** True when the operator listed this host, for this port, in HOLDFAST_ALLOW_PRIVATE_HOSTS. */
  isListed(host: string, port: number): boolean;
  /** Why a literal address is forbidden (the name of its range), or null when it is public. */
  forbiddenRange(address: string): string | null;
}

/** A token bucket: `burst` requests at once, refilled by `perSecond`. */
export interface RateLimit {
  burst: number;
  perSecond: number;
}

/** An OpenID provider that people sign in by. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Whom it lets in; without any, only who is a member already. */
  rules: readonly OidcRule[];
}

/** Settings of the API. */
export interface ApiSettings {
  /** Base URL under which callers and persons reach this service, without a slash at the end. */
  publicUrl: string;
  plan: Plan;
  /** How long replays are kept, in days. Default {@link RECORDING_DAYS}. */
  recordingDays?: number;
  /** Absent: people sign in by links, passwords and passkeys alone. */
  oidc?: OidcSettings;
  /** Base URL of the browser service that /browsers is passed on to, and its key. */
  browserBaseUrl: string;
  browserApiKey: string;
  /** Before authentication, per client address. Default {@link DEFAULT_RATE_LIMITS}. */
  addressRateLimit?: RateLimit;
  /** After authentication, per credential. */
  credentialRateLimit?: RateLimit;
  /** Proxies in front of this service whose X-Forwarded-For is believed (Fastify's `trustProxy`). Default none. */
  trustProxy?: boolean | string;
  /** Who this installation is when it delivers the audit log; without it, no export destination can be made. */
  exportServiceRoleArn?: string;
  /** What the console is told; what is not named is null. */
  console?: Partial<ConsoleSettings>;
  /** Origins of the operator's own pages, which may call this service from a browser and show its page in a frame. */
  allowedOrigins?: readonly string[];
}

/** How long replays are kept where nothing is set, in days. */
export const RECORDING_DAYS = 7;

/** Generous: they stop a runaway client, not a busy one. */
export const DEFAULT_RATE_LIMITS: { address: RateLimit; credential: RateLimit } = {
  address: { burst: 2000, perSecond: 400 },
  credential: { burst: 1000, perSecond: 200 },
};

/** State of the parts that the service needs, by name. */
export type HealthParts = Record<string, { ready: boolean; message?: string }>;

/** Tells whether a page can be had through a proxy; `url` is the page, which must be public (else `invalid_input`). */
export type ProxyProbe = (proxy: OpenedProxy, url?: string) => Promise<boolean>;

/** Deliveries of the audit log: `test` tries a destination as they use it, by its role and an object. */
export interface AuditExports extends Pick<AuditExportsClient, 'wake'> {
  test(destination: ExportTarget): Promise<AuditExportTest>;
}

/** What the API is made of. */
export interface ApiDeps {
  store: Store;
  connections: ConnectionsClient;
  apps: AppsClient;
  settings: ApiSettings;
  addressPolicy: AddressPolicy;
  checkProxy: ProxyProbe;
  /** Fetches a program from its repository; throws errors that name the field. */
  fetchSource: (source: GithubSource) => Promise<FetchedSource>;
  auditExports: AuditExports;
  externalCredentials: Pick<ExternalCredentials, 'test' | 'items'>;
  /** 32 bytes or more. Signs handoff codes and the tokens of the hosted page; the same on every API process. */
  signingKey: Uint8Array;
  logger: ApiLogger;
  clock: () => Date;
  /** Asks every part how it is; must not throw and must answer within a few seconds. */
  health: () => Promise<HealthParts>;
}
