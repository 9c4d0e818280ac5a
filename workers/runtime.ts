import { DefaultLogger, makeTelemetryFilterString, Runtime, type LogMetadata } from '@temporalio/worker';
import { pino, type Logger } from 'pino';

/** Fields of the SDK's log entries that hold opaque ids and codes. All others are dropped. */
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

/** Options of {@link installRuntime}. */
export interface RuntimeSettings {
  host: string;
  /** Port that serves Prometheus metrics at `/metrics`; undefined for none. */
  metricsPort: number | undefined;
  /** Where log entries go; standard output by default. */
  logger?: Logger;
}

/** Sets up metrics and JSON logs without text of sites or persons, before the process's first connection. */
export function installRuntime({ host, metricsPort, logger }: RuntimeSettings): void {
  const out = logger ?? pino({ name: 'worker', base: null, level: 'warn' });
  Runtime.install({
    logger: new DefaultLogger('TRACE', ({ level, message, meta }) => {
      out[LEVELS[level]](allowedFields(meta), message);
    }),
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
      ...(metricsPort === undefined ? {} : { metrics: { prometheus: { bindAddress: addressOf(host, metricsPort) } } }),
    },
  });
}

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** The fields of an entry that may be logged; of an error only its type, because its message may quote a page. */
function allowedFields(meta: LogMetadata = {}): Record<string, unknown> {
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
