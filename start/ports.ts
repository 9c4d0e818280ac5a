import { createServer } from 'node:net';
import { SetupError } from './setup/setup-error.ts';

/** A port that a start needs, and for what. */
export interface NeededPort {
  port: number;
  host: string;
  /** `the API`. */
  use: string;
  /** How the port follows from the settings: `HOLDFAST_PORT + 1`. */
  setting: string;
}

/** Throws a {@link SetupError} that names every needed port on which something listens already. */
export async function checkPorts(needed: readonly NeededPort[]): Promise<void> {
  const taken: string[] = [];
  for (const each of needed) {
    const fault = await tryListen(each.port, each.host);
    if (fault === 'EADDRINUSE') taken.push(`port ${each.port} (${each.setting}, ${each.use}) is taken`);
    else if (fault === 'EACCES') taken.push(`port ${each.port} (${each.setting}, ${each.use}) needs more rights`);
    else if (fault !== undefined) taken.push(`${each.host}:${each.port} (${each.use}) cannot be listened on: ${fault}`);
  }
  if (taken.length === 0) return;
  throw new SetupError(
    `Cannot start: ${taken.join('; ')}. Stop what listens there, or set HOLDFAST_PORT to a number with five free ports after it.`,
  );
}

function tryListen(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => {
      resolve('code' in error && typeof error.code === 'string' ? error.code : error.message);
    });
    server.listen({ port, host, exclusive: true }, () => {
      server.close(() => {
        resolve(undefined);
      });
    });
  });
}
