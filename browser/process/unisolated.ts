import os from 'node:os';
import path from 'node:path';
import type { Isolation } from './isolation.ts';
import { HOST_ENVIRONMENT, START_SCRIPT } from './isolation.ts';
import type { ProcessLimits } from './limits.ts';
import { limitLines, niceCommand } from './limits.ts';
import { SESSION_ROOT_VARIABLE } from './marked.ts';

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
    placeOf: ({ source }) => source,
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
