import { spawn } from 'node:child_process';
import { createServer, connect } from 'node:net';
import process from 'node:process';

/**
 * Runs a command inside a sandbox that has no network but sockets of the service: `launcher.mjs <port>=<socket>… -- <command>`.
 * Each port of the sandbox's own loopback leads into a socket, in a process of its own, so that programs of any language use
 * them as they use any address. Descriptor 3 goes on to the command.
 */
const separator = process.argv.indexOf('--');
const ways = process.argv.slice(2, separator).map((way) => way.split('='));
const [command, ...args] = process.argv.slice(separator + 1);

await Promise.all(
  ways.map(([port, socket]) => {
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
