/** Resource limits of one program of a session, including its children where they can be counted together. */
export interface ProcessLimits {
  /** Memory per process, in bytes; shared memory is limited separately. */
  memoryBytes: number;
  /** Processes and threads. */
  processes: number;
  /** Largest file it may write, in bytes. */
  fileBytes: number;
  /** CPU priority (nice(1)): 0 is that of the service and the browsers, 19 the lowest. */
  niceness: number;
}

/** Enough for a video encoder, a compiler or a browser, without exhausting the machine. */
export const DEFAULT_LIMITS: ProcessLimits = {
  memoryBytes: 4096 * 1024 * 1024,
  processes: 512,
  fileBytes: 8192 * 1024 * 1024,
  niceness: 10,
};

/** Size of the sandbox's /dev/shm, in bytes; its memory belongs to no process. */
export const SHARED_MEMORY_BYTES = 256 * 1024 * 1024;

/** Unit of `ulimit -f`, in bytes. */
const FILE_UNIT = 512;

/**
 * POSIX shell lines that limit the process that runs them. Each is set separately, so that lower limits of the machine remain.
 * Disables core dumps, and makes the kernel kill these programs first when memory runs out.
 */
export function limitLines({ memoryBytes, fileBytes }: ProcessLimits): string {
  const limits = [
    'ulimit -c 0',
    `ulimit -d ${String(Math.ceil(memoryBytes / 1024))}`,
    `ulimit -f ${String(Math.ceil(fileBytes / FILE_UNIT))}`,
    'echo 1000 > /proc/self/oom_score_adj',
  ];
  return limits.map((limit) => `{ ${limit}; } 2>/dev/null; `).join('');
}

/**
 * Shell line for the number of processes. The kernel counts them per user and user namespace: this limits one program if it has
 * its own namespace, else all programs of the user. Shells call the option `-u` or `-p`.
 */
export function processLimitLine({ processes }: ProcessLimits): string {
  const count = String(processes);
  return `{ ulimit -u ${count} || ulimit -p ${count}; } 2>/dev/null; `;
}

/** Prefix of a command that lowers its priority. */
export function niceCommand({ niceness }: ProcessLimits): string[] {
  return ['nice', '-n', String(niceness)];
}
