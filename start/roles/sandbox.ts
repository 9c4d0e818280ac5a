import { join } from 'node:path';
import { startSandbox } from '../../sandbox/site.ts';
import { runRole } from './run-role.ts';

await runRole('sandbox', (settings) =>
  startSandbox({
    port: settings.ports.sandbox,
    host: settings.host,
    stateFile: join(settings.dataDir, 'sandbox.json'),
  }),
);
