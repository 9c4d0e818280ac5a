import { HoldfastError } from '../../contract/errors.ts';
import { loadKeys } from '../keys.ts';
import type { Keys } from '../keys.ts';
import { say } from '../terminal.ts';
import { parseSettings } from '../settings.ts';
import type { Settings } from '../settings.ts';
import { SetupError } from '../setup/setup-error.ts';
import { onStopRequest } from '../supervision.ts';
import { isSupervised } from '../supervision.ts';

/** A started role. */
export interface RunningRole {
  /** Settles when it ended by itself, which it should not; rejects when it failed. */
  ended?: Promise<unknown>;
  /** Ends it: nothing new is taken, what runs is finished or handed back. */
  close(): Promise<void>;
}

/** A role that has not ended this long after it was asked to, in milliseconds, is ended. */
const CLOSE_WITHIN_MS = 9_000;

/**
 * Runs one role as this process. Under the supervisor it says `ready` over the channel and ends when the channel closes,
 * also when the supervisor was killed; alone it ends on SIGINT and SIGTERM. A fault that a person can mend is one line.
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
    }, CLOSE_WITHIN_MS).unref();
    await state.role?.close();
    process.exit(0);
  };
  if (supervised) {
    process.on('disconnect', () => void stop());
    process.on('SIGTERM', () => void stop());
    // It may have closed before we listened.
    if (!process.connected) process.exit(0);
    // The supervisor stops us in its order; a signal to the whole group must not cut in.
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
    const line = explain(error);
    if (line === undefined) throw error;
    fail(line);
  }

  function fail(line: string): void {
    if (state.stopping) return;
    process.stderr.write(`holdfast: ${line}\n`);
    process.exit(1);
  }
}

/** One line for a fault of the surroundings; undefined for a fault of ours, which shows its stack trace. */
function explain(error: unknown): string | undefined {
  if (error instanceof SetupError || error instanceof HoldfastError) return error.message;
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const where = 'port' in error && typeof error.port === 'number' ? `port ${error.port}` : 'an address it needs';
  if (error.code === 'EADDRINUSE')
    return `Cannot listen: ${where} is taken; stop what listens there, or set HOLDFAST_PORT`;
  if (error.code === 'EACCES' && 'port' in error)
    return `Cannot listen: ${where} needs more rights; set HOLDFAST_PORT above 1023`;
  return undefined;
}
