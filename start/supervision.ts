/** Set by the supervisor for its children. */
export const SUPERVISED_VARIABLE = 'HOLDFAST_SUPERVISED';

/** True in a child process of `npm start`. */
export function isSupervised(): boolean {
  return process.env[SUPERVISED_VARIABLE] !== undefined;
}

/** A signal often arrives twice within moments: from the terminal to the group, and forwarded by npm. */
const SAME_REQUEST_MS = 1_000;
const PARENT_CHECK_MS = 1_000;

/**
 * Calls `stop` when this process should end: on SIGINT (Ctrl-C), SIGTERM, SIGHUP (the terminal closed), or once its parent npm
 * was killed. Calls it again for a second request, so that an impatient user can force it.
 */
export function onStopRequest(stop: (how: string) => void): void {
  let last = 0;
  const request = (how: string): void => {
    if (Date.now() - last < SAME_REQUEST_MS) return;
    last = Date.now();
    stop(how);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      request(signal);
    });
  }
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    request('npm exited');
  }, PARENT_CHECK_MS);
  timer.unref();
}
