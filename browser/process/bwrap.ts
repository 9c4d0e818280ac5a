import { chown, readdir, readlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { HostCommand, Isolation, ProcessUser, SessionCommand } from './isolation.ts';
import { HOST_ENVIRONMENT, START_SCRIPT, SYSTEM_FOLDERS } from './isolation.ts';
import type { ProcessLimits } from './limits.ts';
import { limitLines, niceCommand, processLimitLine, SHARED_MEMORY_BYTES } from './limits.ts';
import { SESSION_ROOT_VARIABLE } from './process-list.ts';
import type { FileOwner, SessionFolder } from './session-folder.ts';

/**
 * - `drop`: the service is root. bwrap mounts as root, then the command becomes a user that owns nothing on the machine: no
 *   process of a session ever runs as the machine's root, not even without capabilities.
 * - `map`: the service is an ordinary user. The command runs in a user namespace, as that user under another id.
 */
export type BwrapMode = 'drop' | 'map';

/** What bwrap can do on this machine. */
export interface BwrapAbilities {
  mode: BwrapMode;
  /** False where mounting /proc is forbidden, as in some containers; commands then run without it. */
  proc: boolean;
  /** Whether commands can have their own user namespace, in which they can be root. */
  root: boolean;
}

interface BwrapOptions extends BwrapAbilities {
  /** Gives processes the machine's network, bypassing the egress proxy. Only if the operator opted in. */
  network: boolean;
  limits: ProcessLimits;
}

/** User and group id of commands in `drop` mode, outside the ranges that distributions assign. */
const SESSION_ID = 61_000;
/** User id inside a user namespace. */
const MAPPED_ID = 1000;
/** Folder of the service's own files inside the sandbox. */
const SERVICE_DIR = '/run/holdfast';
/** Signals that the outer processes ignore, so that the command handles them. */
const FORWARDED_SIGNALS = 'INT TERM HUP QUIT TSTP TTIN TTOU';
/** Entries of the machine's /etc that programs need to start, render text and check certificates. No secrets. */
const ETC_ENTRIES = [
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'alternatives', 'fonts', 'localtime', 'mime.types', 'magic'],
  ...['ssl/certs', 'ca-certificates', 'ca-certificates.conf', 'terminfo', 'ImageMagick-6', 'ImageMagick-7'],
];
/** Additional entries for name resolution, with a network. */
const NETWORK_ETC = ['resolv.conf', 'hosts', 'nsswitch.conf', 'gai.conf', 'services', 'protocols'];

/** Isolates processes in their own mount, pid, ipc and, by default, network namespaces with bubblewrap. */
export function createBwrapIsolation(options: BwrapOptions): Isolation {
  const { mode } = options;
  const owner: FileOwner | null = mode === 'drop' ? { uid: SESSION_ID, gid: SESSION_ID } : null;
  const id = mode === 'drop' ? SESSION_ID : MAPPED_ID;
  const homes = { user: '/home/user', root: '/root' } as const;

  return {
    kind: 'bwrap',
    ownNetwork: !options.network,
    owner,
    hasRoot: options.root,
    users: ['user', 'root'],
    systemFolders: SYSTEM_FOLDERS,
    environment: (_folder, user, display) => ({
      PATH: HOST_ENVIRONMENT.PATH,
      HOME: homes[user],
      USER: user,
      LOGNAME: user,
      LANG: 'C.UTF-8',
      TMPDIR: '/tmp',
      ...(display === null ? {} : { DISPLAY: display }),
    }),
    sandboxPath: ({ name }) => `${SERVICE_DIR}/${name}`,
    wrap: async (folder, command) => {
      const bwrapOptions = [
        ...namespaces(options, command.user),
        ...(await mounts(options, folder, command, id)),
        ...['--chdir', '/', '--unsetenv', SESSION_ROOT_VARIABLE],
      ];
      await writeFile(command.optionsFile, bwrapOptions.map((option) => `${option}\0`).join(''), { mode: 0o600 });
      if (owner !== null) await chown(command.envFile, owner.uid, owner.gid);
      return hostCommand(options.limits, folder, command, [
        ...dropPrivileges(options, command.user),
        ...startCommand(options.limits, command),
      ]);
    },
  };
}

function namespaces({ mode, network }: BwrapOptions, user: ProcessUser): string[] {
  const id = String(user === 'root' ? 0 : MAPPED_ID);
  return [
    ...['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--hostname', 'session'],
    ...(network ? [] : ['--unshare-net']),
    ...['--cap-drop', 'ALL'],
    // Only needed to become another user; dropped with that step.
    ...(mode === 'drop'
      ? ['--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID']
      : ['--unshare-user', '--uid', id, '--gid', id]),
  ];
}

/**
 * The file system's root is bwrap's own, read-only, with the session's folders mounted into it one by one. Mounting the session's
 * root as `/` would let a process place links where bwrap creates mount points.
 */
async function mounts(
  options: BwrapOptions,
  folder: SessionFolder,
  command: SessionCommand,
  id: number,
): Promise<string[]> {
  const etc = [...ETC_ENTRIES, ...(options.network ? NETWORK_ETC : [])].map((name) => path.join('/etc', name));
  return [
    // Created explicitly, because folders that bwrap creates implicitly are private to its user.
    ...['/etc', '/etc/ssl', '/run', SERVICE_DIR].flatMap((place) => ['--perms', '0755', '--dir', place]),
    ...['--ro-bind', '/usr', '/usr'],
    ...(await systemLinks()),
    ...(options.proc ? ['--proc', '/proc'] : []),
    // A file system of its own: its content is memory that no process limit counts.
    ...['--dev', '/dev', '--size', String(SHARED_MEMORY_BYTES), '--perms', '1777', '--tmpfs', '/dev/shm'],
    ...['--remount-ro', '/dev'],
    ...etc.flatMap((place) => ['--ro-bind-try', place, place]),
    ...(await accountFiles(folder, id, !options.network)),
    ...(await sessionMounts(folder)),
    ...['--ro-bind', command.envFile, `${SERVICE_DIR}/env`],
    ...command.mounts.flatMap(({ name, source }) => ['--ro-bind', source, `${SERVICE_DIR}/${name}`]),
    ...displaySocket(command.display),
    ...['--remount-ro', '/'],
  ];
}

/** /bin, /lib and the like: links into /usr on most machines, separate folders on others. */
async function systemLinks(): Promise<string[]> {
  const names = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
  const args = await Promise.all(
    names.map(async (name) => {
      const place = `/${name}`;
      const target = await readlink(place).catch(() => null);
      return target === null ? ['--ro-bind-try', place, place] : ['--symlink', target, place];
    }),
  );
  return args.flat();
}

/** Generated passwd, group and hosts files; the machine's own are not exposed. */
async function accountFiles(folder: SessionFolder, id: number, ownNetwork: boolean): Promise<string[]> {
  const files = {
    passwd: `root:x:0:0:root:/root:/bin/sh\nuser:x:${String(id)}:${String(id)}:user:/home/user:/bin/sh\n`,
    group: `root:x:0:\nuser:x:${String(id)}:\n`,
    ...(ownNetwork ? { hosts: '127.0.0.1 localhost\n' } : {}),
  };
  const args: string[] = [];
  for (const [name, text] of Object.entries(files)) {
    const place = path.join(folder.work, name);
    await writeFile(place, text, { mode: 0o644 });
    args.push('--ro-bind', place, `/etc/${name}`);
  }
  return args;
}

/** Mounts the top-level entries of the session's root. Processes can only change what is below them. */
async function sessionMounts(folder: SessionFolder): Promise<string[]> {
  const entries = await readdir(folder.root, { withFileTypes: true });
  return entries
    .filter((entry) => (entry.isDirectory() || entry.isFile()) && !SYSTEM_FOLDERS.has(entry.name))
    .flatMap((entry) => ['--bind', path.join(folder.root, entry.name), `/${entry.name}`]);
}

/** Where programs expect the socket of a display. */
function socketOf(display: string | null): string | null {
  const number = /^:(\d+)$/.exec(display ?? '')?.[1];
  return number === undefined ? null : `/tmp/.X11-unix/X${number}`;
}

/** Mounts the session's display socket outside the folders its processes can write to. */
function displaySocket(display: string | null): string[] {
  const socket = socketOf(display);
  return socket === null ? [] : ['--ro-bind-try', socket, `${SERVICE_DIR}/display`];
}

/**
 * Shell line that links the display socket to where programs expect it. It runs as the command's user, so anything that session
 * processes placed there can only lead to their own files.
 */
function linkDisplay(display: string | null): string {
  const socket = socketOf(display);
  if (socket === null) return '';
  const link = `mkdir -p ${path.dirname(socket)} && ln -sfn ${SERVICE_DIR}/display ${socket}`;
  return `[ -S ${socket} ] || { ${link}; } 2>/dev/null; `;
}

/** Full paths: programs that still hold capabilities must not be looked up in the session's folders. */
function dropPrivileges({ mode, root }: BwrapOptions, user: ProcessUser): string[] {
  if (mode === 'map') return [];
  const noCapabilities = ['--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all'];
  const id = String(SESSION_ID);
  const drop = [
    '/usr/bin/setpriv',
    `--reuid=${id}`,
    `--regid=${id}`,
    '--clear-groups',
    '--no-new-privs',
    ...noCapabilities,
  ];
  if (user === 'user' && !root) return drop;
  // A user namespace for this program alone: its processes are counted there, and root has no power outside it.
  const mapped = user === 'root' ? '--map-root-user' : '--map-current-user';
  return [...drop, '/usr/bin/unshare', '--user', mapped, '--', '/usr/bin/setpriv', ...noCapabilities];
}

function startCommand(limits: ProcessLimits, { command, args, cwd, display }: SessionCommand): string[] {
  const signals = `--default-signal=${FORWARDED_SIGNALS.replaceAll(' ', ',')}`;
  const script = `${linkDisplay(display)}${processLimitLine(limits)}${START_SCRIPT}`;
  return ['/usr/bin/env', signals, '/bin/sh', '-c', script, `${SERVICE_DIR}/env`, cwd, command, ...args];
}

/** Passes the options in a file, because every user of the machine can read command lines. */
function hostCommand(
  limits: ProcessLimits,
  folder: SessionFolder,
  command: SessionCommand,
  inside: string[],
): HostCommand {
  const bwrap = [...niceCommand(limits), 'bwrap', '--args', '9', '--'].join(' ');
  const script = `trap '' ${FORWARDED_SIGNALS}; ${limitLines(limits)}exec ${bwrap} "$@" 9<"$0"`;
  const env = { ...HOST_ENVIRONMENT, [SESSION_ROOT_VARIABLE]: folder.root };
  return { program: '/bin/sh', args: ['-c', script, command.optionsFile, ...inside], env };
}
