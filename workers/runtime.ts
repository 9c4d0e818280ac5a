import { makeTelemetryFilterString, Runtime, type LogLevel, type LogMetadata } from '@temporalio/worker';
import { pino, type Logger } from 'pino';

/** Fields of the SDK's log entries that name things by opaque ids and codes. All others are left out. */
const FIELDS = [
  'activityId',
  'activityType',
  'attempt',
  'code',
  'durationMs',
  'namespace',
  'revision',
  'runId',
  'sdkComponent',
  'taskQueue',
  'workflowId',
  'workflowType',
] as const;

/** What {@link installRuntime} needs. */
export interface RuntimeSettings {
  host: string;
  /** Prometheus metrics are offered at `/metrics` on this port; undefined offers none. */
  metricsPort: number | undefined;
  /** Where entries go; standard output by default. */
  logger?: Logger;
}

/**
 * Sets up Temporal's SDK for this process, once and before any of its connections: entries of the SDK and of its core as JSON
 * lines without anything that a site or a person said, and metrics.
 */
export function installRuntime({ host, metricsPort, logger }: RuntimeSettings): void {
  const out = logger ?? pino({ name: 'worker', base: null, level: 'warn' });
  const write = (level: 'trace' | 'debug' | 'info' | 'warn' | 'error', message: string, meta?: LogMetadata): void => {
    out[level](allowed(meta), message);
  };
  Runtime.install({
    logger: {
      log: (level: LogLevel, message: string, meta?: LogMetadata) => {
        write(LEVELS[level], message, meta);
      },
      trace: (message, meta) => {
        write('trace', message, meta);
      },
      debug: (message, meta) => {
        write('debug', message, meta);
      },
      info: (message, meta) => {
        write('info', message, meta);
      },
      warn: (message, meta) => {
        write('warn', message, meta);
      },
      error: (message, meta) => {
        write('error', message, meta);
      },
    },
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
      ...(metricsPort === undefined ? {} : { metrics: { prometheus: { bindAddress: addressOf(host, metricsPort) } } }),
    },
  });
}

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** The fields of an entry that may be written; of an error its type alone, for its words may be those of a page. */
function allowed(meta: LogMetadata = {}): Record<string, unknown> {
  const kept = FIELDS.flatMap((name) => {
    const value: unknown = meta[name];
    return typeof value === 'string' || typeof value === 'number' ? [[name, value] as const] : [];
  });
  const error: unknown = meta.error;
  return { ...Object.fromEntries(kept), ...(error instanceof Error ? { error: error.name } : {}) };
}

function addressOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}
