import { chmod, mkdir } from 'node:fs/promises';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';

/** A socket file that leads to an address of the machine's network. */
export interface Bridge {
  /** Place of the socket. */
  file: string;
  close(): Promise<void>;
}

/**
 * Opens a socket file that leads to `target` and nowhere else, for a program that has no network. Whoever is shown the file may
 * use it; its folder is closed to all others. TLS to an https target is ours: inside, it is plain HTTP.
 */
export async function openBridge(folder: string, name: string, target: URL): Promise<Bridge> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, name);
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    const there = reach(target);
    clients.add(client);
    const end = (): void => {
      client.destroy();
      there.destroy();
      clients.delete(client);
    };
    for (const socket of [client, there]) socket.on('error', end).on('close', end);
    client.pipe(there).pipe(client);
  });
  await listen(server, file);
  // Its user inside is not ours.
  await chmod(file, 0o666);
  return {
    file,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const client of clients) client.destroy();
      }),
  };
}

function reach({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[|\]$/g, '');
  return protocol === 'https:'
    ? connectTls({ host, servername: host, port: Number(port || 443) })
    : connect({ host, port: Number(port || 80) });
}

function listen(server: Server, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(file, () => resolve());
  });
}
