import type { BrowserServiceOptions } from '../../browser/service.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import { startQuietService } from './quiet-service.ts';

/** A service in a separate process, configured by its JSON argument. Exits when its IPC channel closes. */
const [options = '{}'] = process.argv.slice(2);
const logs: string[] = [];
const log = (fields: Record<string, unknown>, message: string): void =>
  void logs.push(JSON.stringify({ ...fields, message }));
const service = await startQuietService({
  maxSessions: 6,
  warmBrowsers: 0,
  policy: createEgressPolicy('localhost,127.0.0.1'),
  logger: { info: log, warn: log, error: log },
  ...(JSON.parse(options) as Pick<BrowserServiceOptions, 'chromiumPath' | 'workDir'>),
});
process.on('disconnect', () => void service.close().then(() => process.exit(0)));
process.send?.({ url: service.url, logs });
