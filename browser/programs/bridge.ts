import { chmod, mkdir } from 'node:fs/promises';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';

/** A Unix socket that forwards to an address of the machine's network. */
export interface Bridge {
  /** Path of the socket. */
  file: string;
  close(): Promise<void>;
}

/**
 * Opens a Unix socket that forwards to `target` only, for a program without a network. Its folder is private, so only sandboxes that
 * mount the file can use it. For an https target, the bridge does TLS and the program speaks plain HTTP.
 */
export async function openBridge(folder: string, name: string, target: URL): Promise<Bridge> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, name);
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connectTo(target);
    clients.add(client);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
      clients.delete(client);
    };
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    client.pipe(upstream).pipe(client);
  });
  await listen(server, file);
  // The user in the sandbox is another one.
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

function connectTo({ protocol, hostname, port }: URL): Socket {
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
