import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { checkPorts } from '../../start/processes.ts';
import { freePort } from '../setup/free-port-block.ts';

test('free ports pass', async () => {
  const port = await freePort();
  await checkPorts([{ port, host: '127.0.0.1', use: 'the API', setting: 'HOLDFAST_PORT' }]);
});

test('all taken ports are named with use and setting, in one line', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const check = checkPorts([
    { port, host: '127.0.0.1', use: 'the sandbox site', setting: 'HOLDFAST_PORT + 1' },
    { port: await freePort(), host: '127.0.0.1', use: 'the API', setting: 'HOLDFAST_PORT' },
  ]);
  await expect(check).rejects.toThrow(
    new RegExp(`^Cannot start: port ${port} \\(HOLDFAST_PORT \\+ 1, the sandbox site\\) is taken; .*HOLDFAST_PORT`),
  );
  await new Promise((resolve) => server.close(resolve));
});
