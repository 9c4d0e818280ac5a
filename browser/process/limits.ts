/** What one program of a session may take, with all that it starts where that can be counted together. */
export interface ProcessLimits {
  /** Data that each of its processes may have in memory, in bytes; shared memory is bounded apart. */
  memoryBytes: number;
  /** How many processes and threads it may be. */
  processes: number;
  /** Largest file that it may write, in bytes. */
  fileBytes: number;
  /** How far it stands back for the service and the browsers: 0 not at all, 19 altogether (nice(1)). */
  niceness: number;
}

/** Enough for a video encoder, a compiler or a browser of its own; not enough to take the machine along. */
export const DEFAULT_LIMITS: ProcessLimits = {
  memoryBytes: 4096 * 1024 * 1024,
  processes: 512,
  fileBytes: 8192 * 1024 * 1024,
  niceness: 10,
};

/** Most that the sandbox's /dev/shm holds, in bytes: memory that belongs to no process. */
export const SHARED_MEMORY_BYTES = 256 * 1024 * 1024;

/** A shell counts files in units of so many bytes, whichever shell it is. */
const FILE_UNIT = 512;

/**
 * Lines for a POSIX shell that bound whatever it becomes. A limit of the machine that is lower stays: each is set for
 * itself. No core dumps; and when memory runs out, the kernel takes these programs first.
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
 * The same for the number of processes. The kernel counts them by user and user namespace: inside the one that a program
 * has to itself this bounds the program, elsewhere all programs of that user. One of both is what the shell calls it.
 */
export function processLimitLine({ processes }: ProcessLimits): string {
  const count = String(processes);
  return `{ ulimit -u ${count} || ulimit -p ${count}; } 2>/dev/null; `;
}

/** Goes before a program and its arguments. */
export function niceCommand({ niceness }: ProcessLimits): string[] {
  return ['nice', '-n', String(niceness)];
}
