import { resolve } from 'node:path';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { ClientConnectConfig } from '@temporalio/envconfig';
import type { z } from 'zod';
import type { ExportStoreSettings } from '../activities/audit-export/delivery.ts';
import type { OidcSettings } from '../api/context.ts';
import type { Plan } from '../contract/limits.ts';
import { GITHUB_API_URL } from '../program-sources/github.ts';
import { Environment, PORT_OFFSETS } from './environment.ts';
import { SetupError } from './setup/setup-error.ts';

const MEGABYTE = 1024 * 1024;

/** Limits of processes in sessions, for the browser service; omitted ones use its defaults. */
interface ProcessLimitSettings {
  memoryBytes?: number;
  processes?: number;
  fileBytes?: number;
  niceness?: number;
}

/** The validated configuration from the environment. Paths are absolute; URLs have no trailing slash. */
export interface Settings {
  /** Address that the API, the browser service and the sandbox listen on. */
  host: string;
  ports: { api: number; sandbox: number; browser: number; temporal: number; temporalUi: number; codec: number };
  /** Base URL for callers. */
  publicUrl: string;
  /** Base URL of the API for users' programs in the browser service. */
  apiUrl: string;
  /** The organization-wide key; without one, a key is created in the data folder. */
  apiKey: string | undefined;
  plan: Plan;
  dataDir: string;
  /** The master key, then former ones that still unwrap keys. Without one, a key is created in the data folder. */
  masterKeys: [Buffer, ...Buffer[]] | undefined;
  /** The text of HOLDFAST_ALLOW_PRIVATE_HOSTS, known to be valid. */
  allowPrivateHosts: string;
  /** Reverse proxies whose X-Forwarded-For is trusted, as addresses and ranges; none by default. */
  trustProxy: string | undefined;
  /** Origins of the operator's own pages; none by default. */
  allowedOrigins: readonly string[];
  /** The OpenID provider for signing in; none by default. */
  oidc: OidcSettings | undefined;
  /** Whether `npm start` runs the codec server, with which Temporal's UI shows payloads. */
  codec: boolean;
  /** Origins of Temporal's UI, for the codec server. */
  codecOrigins: readonly string[];
  /** Retention of timeline events, in days. */
  timelineDays: number;
  /** Retention of audit log rows, in days. */
  auditDays: number;
  /** Retention of replays and login recordings, in days. */
  recordingDays: number;
  /** Maximum retention of telemetry events, in days. */
  telemetryDays: number;
  /** URL of the workflows' namespace in Temporal's UI, for links in the console. */
  temporalUiUrl: string | undefined;
  sandbox: boolean;
  databaseUrl: string | undefined;
  /** An external browser service; without one, our own is used. */
  browserBaseUrl: string | undefined;
  browserApiKey: string | undefined;
  /** Run processes of sessions unisolated if isolation is not available. */
  allowUnsandboxedProcesses: boolean;
  /** Give isolated processes the machine's network, bypassing the egress proxy. */
  processNetwork: boolean;
  processLimits: ProcessLimitSettings;
  /** Maximum concurrent browser sessions; by default as many as fit into memory. */
  maxSessions: number | undefined;
  /** Which browser sessions get a window. */
  windows: 'default' | 'on-request' | 'never';
  chromiumPath: string | undefined;
  /** How many browsers a worker drives concurrently, for people's logins and for checks; omitted ones use the default. */
  concurrency: { people?: number; checks?: number };
  /** Port of the worker's Prometheus metrics, on `host`; none by default. */
  metricsPort: number | undefined;
  /** Port on which the API receives mail with one-time codes, on `host`; none by default. */
  smtpPort: number | undefined;
  /** Whether Temporal's search attribute `HoldfastDomain` contains the domain itself instead of a keyed hash. */
  clearSearchDomains: boolean;
  /** A model that decides between similar forms, through a chat completions endpoint; none by default. */
  model: { url: string; name: string; key: string | undefined } | undefined;
  /** Base URL of the API that programs are fetched from. */
  githubApiUrl: string;
  /** A captcha solver that is asked before a person, through `createTask` and `getTaskResult`; none by default. */
  captchaSolver: { url: string; key: string | undefined } | undefined;
  /** The identity of this installation for export destinations; without it, none can be created. */
  exportServiceRoleArn: string | undefined;
  /** Endpoints and credentials for export destinations; AWS by default. */
  exportStore: ExportStoreSettings;
  /** An external Temporal server; without one, `npm start` runs a dev server. */
  externalTemporal: ClientConnectConfig | undefined;
  /** The worker's deployment version; without one, workers are not versioned. */
  workerVersion: { deploymentName: string; buildId: string } | undefined;
}

/**
 * Parses the settings. Throws a {@link SetupError} whose single line names every invalid variable, but never a value, because
 * some are secrets.
 */
export function parseSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  const parsed = Environment.safeParse(env);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(
      (issue) => `${issue.path.join('.')} ${describeIssue(issue.message, issue.code)}`,
    );
    throw new SetupError(`Invalid configuration: ${issues.join('; ')}`);
  }
  const read = parsed.data;
  const port = read.HOLDFAST_PORT ?? 8080;
  return {
    host: read.HOLDFAST_HOST ?? '127.0.0.1',
    ports: {
      api: port,
      sandbox: port + PORT_OFFSETS.sandbox,
      browser: port + PORT_OFFSETS.browser,
      temporal: port + PORT_OFFSETS.temporal,
      temporalUi: port + PORT_OFFSETS.temporalUi,
      codec: port + PORT_OFFSETS.codec,
    },
    publicUrl: read.HOLDFAST_PUBLIC_URL ?? `http://localhost:${port}`,
    apiUrl: read.HOLDFAST_API_URL ?? read.HOLDFAST_PUBLIC_URL ?? `http://localhost:${port}`,
    apiKey: read.HOLDFAST_API_KEY,
    plan: read.HOLDFAST_PLAN ?? 'enterprise',
    dataDir: resolve(read.HOLDFAST_DATA_DIR ?? '.holdfast'),
    masterKeys: read.HOLDFAST_MASTER_KEY,
    allowPrivateHosts: read.HOLDFAST_ALLOW_PRIVATE_HOSTS ?? '',
    trustProxy: read.HOLDFAST_TRUST_PROXY,
    allowedOrigins: read.HOLDFAST_ALLOWED_ORIGINS ?? [],
    oidc: oidcSettings(read),
    codec: read.HOLDFAST_CODEC === 'on',
    codecOrigins: read.HOLDFAST_CODEC_ORIGINS ?? [`http://localhost:${port + PORT_OFFSETS.temporalUi}`],
    timelineDays: read.HOLDFAST_TIMELINE_DAYS ?? 90,
    auditDays: read.HOLDFAST_AUDIT_DAYS ?? 365,
    recordingDays: read.HOLDFAST_RECORDING_DAYS ?? 7,
    telemetryDays: read.HOLDFAST_TELEMETRY_DAYS ?? 7,
    temporalUiUrl: read.HOLDFAST_TEMPORAL_UI_URL,
    sandbox: (read.HOLDFAST_SANDBOX ?? 'on') === 'on',
    databaseUrl: read.DATABASE_URL,
    browserBaseUrl: read.BROWSER_BASE_URL,
    browserApiKey: read.BROWSER_API_KEY,
    allowUnsandboxedProcesses: read.BROWSER_ALLOW_UNSANDBOXED_PROCESSES === 'on',
    processNetwork: read.BROWSER_ALLOW_PROCESS_NETWORK === 'on',
    processLimits: processLimits(read),
    maxSessions: read.BROWSER_MAX_SESSIONS,
    windows: read.BROWSER_WINDOWS ?? 'default',
    chromiumPath: read.CHROMIUM_PATH,
    concurrency: {
      ...(read.HOLDFAST_MAX_BROWSERS === undefined ? {} : { people: read.HOLDFAST_MAX_BROWSERS }),
      ...(read.HOLDFAST_MAX_CHECKS === undefined ? {} : { checks: read.HOLDFAST_MAX_CHECKS }),
    },
    metricsPort: read.HOLDFAST_METRICS_PORT,
    smtpPort: read.HOLDFAST_SMTP_PORT,
    clearSearchDomains: read.HOLDFAST_SEARCH_DOMAINS === 'clear',
    model:
      read.HOLDFAST_MODEL_URL === undefined || read.HOLDFAST_MODEL_NAME === undefined
        ? undefined
        : { url: read.HOLDFAST_MODEL_URL, name: read.HOLDFAST_MODEL_NAME, key: read.HOLDFAST_MODEL_KEY },
    githubApiUrl: read.HOLDFAST_GITHUB_API_URL ?? GITHUB_API_URL,
    captchaSolver:
      read.HOLDFAST_CAPTCHA_URL === undefined
        ? undefined
        : { url: read.HOLDFAST_CAPTCHA_URL, key: read.HOLDFAST_CAPTCHA_KEY },
    exportServiceRoleArn: read.HOLDFAST_EXPORT_SERVICE_ROLE_ARN,
    exportStore: {
      s3Endpoint: read.HOLDFAST_EXPORT_S3_ENDPOINT,
      stsEndpoint: read.HOLDFAST_EXPORT_STS_ENDPOINT,
      credentials: exportCredentials(read),
    },
    externalTemporal: externalTemporal(read, env),
    workerVersion: workerVersion(read),
  };
}

function describeIssue(message: string, code: string): string {
  if (code === 'invalid_value') return message.replace(/^Invalid (option|input): expected/, 'must be');
  return message.startsWith('must') ? message : `is not valid (${message})`;
}

function exportCredentials(read: z.infer<typeof Environment>): ExportStoreSettings['credentials'] {
  const { HOLDFAST_EXPORT_ACCESS_KEY_ID: accessKeyId, HOLDFAST_EXPORT_SECRET_ACCESS_KEY: secretAccessKey } = read;
  return accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey };
}

function oidcSettings(read: z.infer<typeof Environment>): OidcSettings | undefined {
  const { HOLDFAST_OIDC_ISSUER: issuer, HOLDFAST_OIDC_CLIENT_ID: clientId } = read;
  const { HOLDFAST_OIDC_CLIENT_SECRET: clientSecret, HOLDFAST_OIDC_MEMBERS: rules = [] } = read;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return { issuer, clientId, clientSecret, rules };
}

function workerVersion(read: z.infer<typeof Environment>): Settings['workerVersion'] {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = read;
  return deploymentName === undefined || buildId === undefined ? undefined : { deploymentName, buildId };
}

/**
 * The user's Temporal configuration file must not connect a local trial to their cloud account: only a variable set for this
 * start selects an external server.
 */
function externalTemporal(read: z.infer<typeof Environment>, env: NodeJS.ProcessEnv): ClientConnectConfig | undefined {
  if ((read.TEMPORAL_ADDRESS ?? read.TEMPORAL_CONFIG_FILE ?? read.TEMPORAL_PROFILE) === undefined) return undefined;
  const variables = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[0].startsWith('TEMPORAL_') && entry[1] !== undefined && entry[1] !== '',
  );
  try {
    return loadClientConnectConfig({
      overrideEnvVars: Object.fromEntries(variables),
      disableFile: (read.TEMPORAL_CONFIG_FILE ?? read.TEMPORAL_PROFILE) === undefined,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown error';
    throw new SetupError(`Invalid configuration: the TEMPORAL_* variables are not usable (${reason})`);
  }
}

function processLimits(read: z.infer<typeof Environment>): ProcessLimitSettings {
  const { BROWSER_PROCESS_MEMORY_MB: memory, BROWSER_PROCESS_FILE_MB: file } = read;
  const { BROWSER_PROCESS_COUNT: processes, BROWSER_PROCESS_NICE: niceness } = read;
  return {
    ...(memory === undefined ? {} : { memoryBytes: memory * MEGABYTE }),
    ...(file === undefined ? {} : { fileBytes: file * MEGABYTE }),
    ...(processes === undefined ? {} : { processes }),
    ...(niceness === undefined ? {} : { niceness }),
  };
}
