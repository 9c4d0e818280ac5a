import { spawn } from 'node:child_process';
import { createServer, connect } from 'node:net';
import process from 'node:process';

/**
 * Runs a command in a sandbox without a network: `launcher.mjs <port>=<socket>… -- <command>`. Forwards ports of the sandbox's
 * loopback to Unix sockets of the service, so that programs in any language can use them. The command inherits descriptor 3.
 */
const separator = process.argv.indexOf('--');
const forwards = process.argv.slice(2, separator).map((forward) => forward.split('='));
const [command, ...args] = process.argv.slice(separator + 1);

await Promise.all(
  forwards.map(([port, socket]) => {
    const server = createServer((client) => {
      const service = connect(socket);
      client.on('error', () => service.destroy());
      service.on('error', () => client.destroy());
      client.on('close', () => service.destroy());
      service.on('close', () => client.destroy());
      client.pipe(service).pipe(client);
    });
    return new Promise((resolve) => server.listen(Number(port), '127.0.0.1', resolve));
  }),
);
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 3] });
child.once('error', () => process.exit(127));
child.once('exit', (code, signal) => process.exit(code ?? (signal === 'SIGKILL' ? 137 : 143)));
