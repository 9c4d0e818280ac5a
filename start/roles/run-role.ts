import { HoldfastError } from '../../contract/errors.ts';
import { loadKeys } from '../keys.ts';
import type { Keys } from '../keys.ts';
import { say } from '../terminal.ts';
import { parseSettings } from '../settings.ts';
import type { Settings } from '../settings.ts';
import { SetupError } from '../setup/setup-error.ts';
import { isSupervised, onStopRequest } from '../supervision.ts';

/** A started role. */
export interface RunningRole {
  /** Settles if it ends by itself, which it should not; rejects if it fails. */
  ended?: Promise<unknown>;
  /** Shuts down gracefully: accepts no new work, and completes or returns what is running. */
  close(): Promise<void>;
}

/** A role that has not closed within this time, in milliseconds, is ended. */
const CLOSE_TIMEOUT_MS = 9_000;

/**
 * Runs one role as this process. Under the supervisor it sends `ready` over the channel and ends when the channel closes, even
 * if the supervisor was killed; alone it ends on SIGINT and SIGTERM. A fault that the user can fix is one line.
 */
export async function runRole(
  name: string,
  start: (settings: Settings, keys: Keys) => Promise<RunningRole>,
): Promise<void> {
  const supervised = isSupervised();
  const state: { role?: RunningRole; stopping?: boolean } = {};

  const stop = async (): Promise<void> => {
    if (state.stopping) return;
    state.stopping = true;
    setTimeout(() => {
      process.exit(1);
    }, CLOSE_TIMEOUT_MS).unref();
    await state.role?.close();
    process.exit(0);
  };
  if (supervised) {
    process.on('disconnect', () => void stop());
    process.on('SIGTERM', () => void stop());
    // The channel may have closed before we listened.
    if (!process.connected) process.exit(0);
    // The supervisor stops roles in order; a signal to the whole group must not interfere.
    process.on('SIGINT', () => undefined);
  } else {
    onStopRequest(() => void stop());
  }

  try {
    const settings = parseSettings();
    const role = await start(settings, await loadKeys(settings));
    if (state.stopping) {
      await role.close();
      return;
    }
    state.role = role;
    void role.ended?.then(
      () => fail(`${name} ended by itself`),
      (error: unknown) => fail(error instanceof Error ? error.message : `${name} failed`),
    );
    if (supervised) process.send?.('ready');
    else say(`Holdfast ${name} is ready.`);
  } catch (error) {
    const line = describeFault(error);
    if (line === undefined) throw error;
    fail(line);
  }

  function fail(line: string): void {
    if (state.stopping) return;
    process.stderr.write(`holdfast: ${line}\n`);
    process.exit(1);
  }
}

/** One line for a fault of the environment; undefined for our own errors, which show a stack trace. */
function describeFault(error: unknown): string | undefined {
  if (error instanceof SetupError || error instanceof HoldfastError) return error.message;
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const where = 'port' in error && typeof error.port === 'number' ? `port ${error.port}` : 'an address it needs';
  if (error.code === 'EADDRINUSE')
    return `Cannot listen: ${where} is taken; stop the process that listens there, or set HOLDFAST_PORT`;
  if (error.code === 'EACCES' && 'port' in error)
    return `Cannot listen: ${where} requires more privileges; set HOLDFAST_PORT above 1023`;
  return undefined;
}
