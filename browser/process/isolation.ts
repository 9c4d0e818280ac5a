import os from 'node:os';
import path from 'node:path';
import type { ProcessLimits } from './limits.ts';
import { limitLines, niceCommand } from './limits.ts';
import { SESSION_ROOT_VARIABLE } from './process-list.ts';
import type { FileOwner, SessionFolder } from './session-folder.ts';

/** The user a process runs as, inside its session. */
export type ProcessUser = 'user' | 'root';

/** A file or folder of the machine, mounted read-only for one command. */
export interface MountedFile {
  /** A plain name, unique among the command's mounts. */
  name: string;
  source: string;
}

/** One command as the session sees it. */
export interface SessionCommand {
  command: string;
  args: readonly string[];
  /** Absolute, as the process sees it. */
  cwd: string;
  user: ProcessUser;
  /** File of shell `export` lines, private to the process. */
  envFile: string;
  /** File for the options of the sandbox program, private to the service. */
  optionsFile: string;
  /** Display of the session's browser, for example `:99`; null without one. */
  display: string | null;
  mounts: readonly MountedFile[];
}

/** A command to start on this machine. */
export interface HostCommand {
  program: string;
  args: string[];
  env: Record<string, string>;
}

/** How the processes of a session are isolated from this machine, if at all. */
export interface Isolation {
  kind: 'bwrap' | 'none';
  owner: FileOwner | null;
  /** True if processes have their own, empty network. */
  ownNetwork: boolean;
  /** Whether processes can run as the session's root user. */
  hasRoot: boolean;
  /** User names that `as_user` accepts. */
  users: readonly string[];
  /** Names of top-level folders that belong to the machine: readable by processes, off limits for file operations. */
  systemFolders: ReadonlySet<string>;
  /** Base environment of every process. */
  environment(folder: SessionFolder, user: ProcessUser, display: string | null): Record<string, string>;
  /** Path of a mounted file, as the command sees it. */
  sandboxPath(file: MountedFile): string;
  /** Wraps a command so that it starts isolated. Writes the options to `optionsFile`. */
  wrap(folder: SessionFolder, command: SessionCommand): Promise<HostCommand>;
}

/** Top-level folders that are mounted read-only from the machine, or reserved for kernel file systems. */
export const SYSTEM_FOLDERS: ReadonlySet<string> = new Set([
  ...['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'libexec'],
  ...['etc', 'proc', 'dev', 'sys', 'run', 'boot'],
]);

/**
 * Sources the environment file `$0`, changes to the folder `$1` and executes the command. Fails like any shell: 126 without
 * the folder, 127 without the program.
 */
export const START_SCRIPT = '. "$0"; cd -- "$1" || exit 126; shift; exec "$@"';

/** Environment of processes outside the sandbox: nothing of the service's, nothing of a caller's. */
export const HOST_ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

/**
 * No isolation: processes run on the machine as the service's own user, with its access. Only if the operator opted in; the
 * session's folder is their home, not their limit.
 */
export function createUnisolated(limits: ProcessLimits): Isolation {
  const isRoot = process.getuid?.() === 0;
  const name = os.userInfo().username;
  const nice = niceCommand(limits).join(' ');
  return {
    kind: 'none',
    ownNetwork: false,
    owner: null,
    hasRoot: isRoot,
    users: isRoot ? ['root'] : [name],
    systemFolders: new Set(),
    environment: (folder, _user, display) => ({
      PATH: process.env.PATH ?? HOST_ENVIRONMENT.PATH,
      HOME: path.join(folder.root, 'home/user'),
      USER: name,
      LOGNAME: name,
      LANG: 'C.UTF-8',
      TMPDIR: path.join(folder.root, 'tmp'),
      ...(display === null ? {} : { DISPLAY: display }),
    }),
    sandboxPath: ({ source }) => source,
    wrap: (folder, { command, args, cwd, envFile }) =>
      Promise.resolve({
        program: '/bin/sh',
        args: [
          '-c',
          `${limitLines(limits)}exec ${nice} /bin/sh -c '${START_SCRIPT}' "$0" "$@"`,
          envFile,
          cwd,
          command,
          ...args,
        ],
        env: { ...HOST_ENVIRONMENT, [SESSION_ROOT_VARIABLE]: folder.root },
      }),
  };
}
