import os from 'node:os';
import path from 'node:path';
import type { ProcessLimits } from './limits.ts';
import { limitLines, niceCommand } from './limits.ts';
import { SESSION_ROOT_VARIABLE } from './process-list.ts';
import type { FileOwner, SessionFolder } from './session-folder.ts';

/** Who a process runs as, inside its session. */
export type ProcessUser = 'user' | 'root';

/** A file or folder of the machine that one command is shown, for reading. */
export interface MountedFile {
  /** A plain name, unlike any other that the command is shown. */
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
  /** A file of shell `export` lines, private to the process. */
  envFile: string;
  /** Where the options of the isolating program are written, private to the service. */
  optionsFile: string;
  /** Display of the session's browser, for example `:99`; null without one. */
  display: string | null;
  shown: readonly MountedFile[];
}

/** A program, its arguments and its environment, ready to be started on this machine. */
export interface HostCommand {
  program: string;
  args: string[];
  env: Record<string, string>;
}

/** What keeps the processes of a session apart from this machine, or does not. */
export interface Isolation {
  kind: 'bwrap' | 'none';
  owner: FileOwner | null;
  /** True where processes have a network of their own, with nothing on it. */
  ownNetwork: boolean;
  /** Whether processes may have the session's root user. */
  hasRoot: boolean;
  /** How many of the session's users there are by name: what `as_user` may say. */
  users: readonly string[];
  /** Folders of the machine that processes can read and the files operations leave alone, without slashes. */
  systemFolders: ReadonlySet<string>;
  /** Environment that every process starts with. */
  environment(folder: SessionFolder, user: ProcessUser, display: string | null): Record<string, string>;
  /** Where a command finds what it is shown. */
  sandboxPath(shown: MountedFile): string;
  /** The command line that starts a command inside. Writes its options to `optionsFile`. */
  wrap(folder: SessionFolder, command: SessionCommand): Promise<HostCommand>;
}

/** Folders of the machine that a session shows read-only, or whose place it keeps for the kernel's own file systems. */
export const SYSTEM_FOLDERS: ReadonlySet<string> = new Set([
  ...['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'libexec'],
  ...['etc', 'proc', 'dev', 'sys', 'run', 'boot'],
]);

/**
 * Reads the environment file, goes to the folder and becomes the command: `$0` is the file, `$1` the folder. What fails
 * here ends like it would in any shell: 126 without the folder, 127 without the program.
 */
export const START_SCRIPT = '. "$0"; cd -- "$1" || exit 126; shift; exec "$@"';

/** The environment of what runs outside the isolation: nothing of the service's own, nothing of a caller's. */
export const HOST_ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

/**
 * No isolation: processes run on the machine itself as the service's own user, and see what it sees. Only for an
 * operator who has allowed it by name; the session's folder is their home, not their limit.
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
