import { resolve } from 'node:path';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { ClientConnectConfig } from '@temporalio/envconfig';
import type { z } from 'zod';
import type { ExportStoreSettings } from '../activities/audit-export/delivery.ts';
import type { OidcSettings } from '../api/context.ts';
import type { Plan } from '../contract/limits.ts';
import { GITHUB_API_URL } from '../program-sources/github.ts';
import { Environment, PORTS_ABOVE } from './environment.ts';
import { SetupError } from './setup/setup-error.ts';

const MEGABYTE = 1024 * 1024;

/** As the browser service takes it; what is not named is as usual. */
export interface ProcessLimitSettings {
  memoryBytes?: number;
  processes?: number;
  fileBytes?: number;
  niceness?: number;
}

/** Everything that the environment decides, checked. Paths are absolute; URLs have no slash at the end. */
export interface Settings {
  /** Address that the API, the browser service and the sandbox listen on. */
  host: string;
  ports: { api: number; sandbox: number; browser: number; temporal: number; temporalUi: number; codec: number };
  /** Base URL as callers see it. */
  publicUrl: string;
  /** Base URL of the API as the browser service reaches it, for the programs of users. */
  apiUrl: string;
  /** The organization-wide key; without one, a key is made in the data folder. */
  apiKey: string | undefined;
  plan: Plan;
  dataDir: string;
  /** The master key, then former ones that still open what they wrapped. Without one, a key is made in the data folder. */
  masterKeys: [Buffer, ...Buffer[]] | undefined;
  /** The text of HOLDFAST_ALLOW_PRIVATE_HOSTS, known to be readable. */
  allowPrivateHosts: string;
  /** Reverse proxies whose X-Forwarded-For is believed, as addresses and ranges; none by default. */
  trustProxy: string | undefined;
  /** Origins of the operator's own pages; none by default. */
  allowedOrigins: readonly string[];
  /** The OpenID provider that people sign in by; none by default. */
  oidc: OidcSettings | undefined;
  /** `npm start` runs the codec server, by which Temporal's UI shows payloads. */
  codec: boolean;
  /** Origins of Temporal's UI, for the codec server. */
  codecOrigins: readonly string[];
  /** How long events of timelines are kept, in days. */
  timelineDays: number;
  /** How long rows of the audit log are kept, in days. */
  auditDays: number;
  /** How long replays, and recordings of logins, are kept, in days. */
  recordingDays: number;
  /** How long events of telemetry are kept at most, in days. */
  telemetryDays: number;
  /** Temporal's UI, at the namespace of the workflows, for links of the console. */
  temporalUiUrl: string | undefined;
  sandbox: boolean;
  databaseUrl: string | undefined;
  /** A browser service elsewhere; without one, our own is used. */
  browserBaseUrl: string | undefined;
  browserApiKey: string | undefined;
  /** Run the processes of sessions on the machine itself where nothing can isolate them. */
  allowUnsandboxedProcesses: boolean;
  /** Give isolated processes the machine's network, past the egress proxy. */
  processNetwork: boolean;
  /** What a program of a session may take; what is not named is as usual. */
  processLimits: ProcessLimitSettings;
  /** Most browser sessions at a time; as many as fit into memory when it is not given. */
  maxSessions: number | undefined;
  /** Which browser sessions get a window. */
  windows: 'default' | 'on-request' | 'never';
  chromiumPath: string | undefined;
  /** How many browsers a worker drives at once, for logins of people and for checks; what is not named is as usual. */
  concurrency: { people?: number; checks?: number };
  /** Where the worker offers Prometheus metrics, on `host`; without it, it offers none. */
  metricsPort: number | undefined;
  /** Where the API takes mail with one-time codes, on `host`; without it, it takes none. */
  smtpPort: number | undefined;
  /** Whether Temporal's search attribute `HoldfastDomain` holds the domain itself instead of a keyed hash of it. */
  clearSearchDomains: boolean;
  /** A model that is asked between forms which look alike, behind an endpoint for chat completions; none by default. */
  model: { url: string; name: string; key: string | undefined } | undefined;
  /** A captcha solver that is asked before a person is, behind `createTask` and `getTaskResult`; none by default. */
  /** Base URL of the API that programs are fetched from. */
  githubApiUrl: string;
  captchaSolver: { url: string; key: string | undefined } | undefined;
  /** Who this installation is when it delivers to export destinations; without it, none can be made. */
  exportServiceRoleArn: string | undefined;
  /** How export destinations are reached; what is not set is AWS's own. */
  exportStore: ExportStoreSettings;
  /** A Temporal server elsewhere; without one, `npm start` runs a dev server. */
  externalTemporal: ClientConnectConfig | undefined;
  /** The worker's deployment version; without one, workers are not versioned. */
  workerVersion: { deploymentName: string; buildId: string } | undefined;
}

/**
 * Reads the settings. Rejects all wrong ones at once: throws a {@link SetupError} whose one line names each of them.
 * Values are never repeated in it, for some are secrets.
 */
export function parseSettings(env: NodeJS.ProcessEnv = process.env): Settings {
  const parsed = Environment.safeParse(env);
  if (!parsed.success) {
    const wrong = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${ruleOf(issue.message, issue.code)}`);
    throw new SetupError(`Invalid configuration: ${wrong.join('; ')}`);
  }
  const read = parsed.data;
  const port = read.HOLDFAST_PORT ?? 8080;
  return {
    host: read.HOLDFAST_HOST ?? '127.0.0.1',
    ports: {
      api: port,
      sandbox: port + PORTS_ABOVE.sandbox,
      browser: port + PORTS_ABOVE.browser,
      temporal: port + PORTS_ABOVE.temporal,
      temporalUi: port + PORTS_ABOVE.temporalUi,
      codec: port + PORTS_ABOVE.codec,
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
    codecOrigins: read.HOLDFAST_CODEC_ORIGINS ?? [`http://localhost:${port + PORTS_ABOVE.temporalUi}`],
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

function ruleOf(message: string, code: string): string {
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
 * A person's Temporal configuration file must not send a local try-out to their cloud account: only a variable set for
 * this start says that the server is elsewhere.
 */
function externalTemporal(read: z.infer<typeof Environment>, env: NodeJS.ProcessEnv): ClientConnectConfig | undefined {
  if ((read.TEMPORAL_ADDRESS ?? read.TEMPORAL_CONFIG_FILE ?? read.TEMPORAL_PROFILE) === undefined) return undefined;
  const given = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[0].startsWith('TEMPORAL_') && entry[1] !== undefined && entry[1] !== '',
  );
  try {
    return loadClientConnectConfig({
      overrideEnvVars: Object.fromEntries(given),
      disableFile: (read.TEMPORAL_CONFIG_FILE ?? read.TEMPORAL_PROFILE) === undefined,
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown fault';
    throw new SetupError(`Invalid configuration: the TEMPORAL_* variables cannot be used (${why})`);
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
