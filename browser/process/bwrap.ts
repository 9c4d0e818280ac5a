import { chown, readdir, readlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { HostCommand, Isolation, ProcessUser, SessionCommand } from './isolation.ts';
import { HOST_ENVIRONMENT, START_SCRIPT, SYSTEM_FOLDERS } from './isolation.ts';
import type { ProcessLimits } from './limits.ts';
import { limitLines, niceCommand, processLimitLine, SHARED_MEMORY_BYTES } from './limits.ts';
import { SESSION_ROOT_VARIABLE } from './process-list.ts';
import type { FileOwner, SessionFolder } from './session-folder.ts';

/**
 * How far a machine lets us go.
 * - `drop`: the service is root. bwrap makes the mounts as root, then the command dropPrivileges a user that owns nothing on the
 *   machine: no process of a session ever runs as the machine's root, not even without capabilities.
 * - `map`: the service is an ordinary user. The command runs in a user namespace, as that user under another id.
 */
export type BwrapMode = 'drop' | 'map';

/** What the probe found. */
export interface BwrapAbilities {
  mode: BwrapMode;
  /** Containers may forbid to mount /proc; commands then run without one. */
  proc: boolean;
  /** Whether a command may have a user namespace to itself: it can be the session's root user there. */
  root: boolean;
}

/** What {@link createBwrapIsolation} needs beside. */
interface BwrapOptions extends BwrapAbilities {
  /** Gives processes the machine's network, past the egress proxy: only where the operator asked for it by name. */
  network: boolean;
  limits: ProcessLimits;
}

/** User and group that commands of a service run by root become: outside the ranges that distributions hand out. */
const SESSION_ID = 61_000;
/** User id inside a user namespace. */
const MAPPED_ID = 1000;
/** Where the service's own things are inside. */
const SERVICE_DIR = '/run/holdfast';
/** Signals that a caller or a terminal sends: the outer processes ignore them, so that the command decides. */
const SENT_SIGNALS = 'INT TERM HUP QUIT TSTP TTIN TTOU';
/** Entries of the machine's /etc that programs need to start, to draw text and to check certificates. No secrets. */
const SHOWN_ETC = [
  ...['ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'alternatives', 'fonts', 'localtime', 'mime.types', 'magic'],
  ...['ssl/certs', 'ca-certificates', 'ca-certificates.conf', 'terminfo', 'ImageMagick-6', 'ImageMagick-7'],
];
/** What name resolution needs beside, where there is a network. */
const NETWORK_ETC = ['resolv.conf', 'hosts', 'nsswitch.conf', 'gai.conf', 'services', 'protocols'];

/** Processes in their own mount, pid, ipc and (unless asked otherwise) network namespaces, by bubblewrap. */
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
    // To become another user, and nothing else; gone with that step.
    ...(mode === 'drop'
      ? ['--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID']
      : ['--unshare-user', '--uid', id, '--gid', id]),
  ];
}

/**
 * The root of the file system is bwrap's own, empty and read-only in the end; the session's folders are mounted into it
 * one by one. Mounting the session's root as `/` would let a process put links where bwrap makes its mount points.
 */
async function mounts(
  options: BwrapOptions,
  folder: SessionFolder,
  command: SessionCommand,
  id: number,
): Promise<string[]> {
  const etc = [...SHOWN_ETC, ...(options.network ? NETWORK_ETC : [])].map((name) => path.join('/etc', name));
  return [
    // Made open to all: what bwrap makes unasked is its own user's alone.
    ...['/etc', '/etc/ssl', '/run', SERVICE_DIR].flatMap((place) => ['--perms', '0755', '--dir', place]),
    ...['--ro-bind', '/usr', '/usr'],
    ...(await systemLinks()),
    ...(options.proc ? ['--proc', '/proc'] : []),
    // In its own file system, for what a program puts there is memory that belongs to no process.
    ...['--dev', '/dev', '--size', String(SHARED_MEMORY_BYTES), '--perms', '1777', '--tmpfs', '/dev/shm'],
    ...['--remount-ro', '/dev'],
    ...etc.flatMap((place) => ['--ro-bind-try', place, place]),
    ...(await accountFiles(folder, id, !options.network)),
    ...(await sessionMounts(folder)),
    ...['--ro-bind', command.envFile, `${SERVICE_DIR}/env`],
    ...command.shown.flatMap(({ name, source }) => ['--ro-bind', source, `${SERVICE_DIR}/${name}`]),
    ...displaySocket(command.display),
    ...['--remount-ro', '/'],
  ];
}

/** /bin, /lib and their like: links into /usr on most machines, folders of their own on others. */
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

/** Names for the ids inside, and for the loopback of its own; the machine's own accountFiles and hosts are not shown. */
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

/** Everything at the top of the session's root. Processes cannot change these entries, only what is below them. */
async function sessionMounts(folder: SessionFolder): Promise<string[]> {
  const entries = await readdir(folder.root, { withFileTypes: true });
  return entries
    .filter((entry) => (entry.isDirectory() || entry.isFile()) && !SYSTEM_FOLDERS.has(entry.name))
    .flatMap((entry) => ['--bind', path.join(folder.root, entry.name), `/${entry.name}`]);
}

/** Where programs look for the socket of a display. */
function socketOf(display: string | null): string | null {
  const number = /^:(\d+)$/.exec(display ?? '')?.[1];
  return number === undefined ? null : `/tmp/.X11-unix/X${number}`;
}

/** The socket of the session's own display, out of the reach of its processes: nothing is mounted below a folder of theirs. */
function displaySocket(display: string | null): string[] {
  const socket = socketOf(display);
  return socket === null ? [] : ['--ro-bind-try', socket, `${SERVICE_DIR}/display`];
}

/**
 * A link at the place where programs look, made inside, by the command's own user, before anything of the caller is read:
 * what the session's processes may have put there leads nowhere but to their own files.
 */
function linkDisplay(display: string | null): string {
  const socket = socketOf(display);
  if (socket === null) return '';
  const link = `mkdir -p ${path.dirname(socket)} && ln -sfn ${SERVICE_DIR}/display ${socket}`;
  return `[ -S ${socket} ] || { ${link}; } 2>/dev/null; `;
}

/** Programs by their full names: a session's own folders are not searched for what still holds a capability. */
function dropPrivileges({ mode, root }: BwrapOptions, user: ProcessUser): string[] {
  if (mode === 'map') return [];
  const none = ['--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all'];
  const id = String(SESSION_ID);
  const drop = ['/usr/bin/setpriv', `--reuid=${id}`, `--regid=${id}`, '--clear-groups', '--no-new-privs', ...none];
  if (user === 'user' && !root) return drop;
  // In a namespace in which there is nothing but this program: its processes are counted there, and root is an id without
  // power over anything.
  const mapped = user === 'root' ? '--map-root-user' : '--map-current-user';
  return [...drop, '/usr/bin/unshare', '--user', mapped, '--', '/usr/bin/setpriv', ...none];
}

function startCommand(limits: ProcessLimits, { command, args, cwd, display }: SessionCommand): string[] {
  const signals = `--default-signal=${SENT_SIGNALS.replaceAll(' ', ',')}`;
  const script = `${linkDisplay(display)}${processLimitLine(limits)}${START_SCRIPT}`;
  return ['/usr/bin/env', signals, '/bin/sh', '-c', script, `${SERVICE_DIR}/env`, cwd, command, ...args];
}

/** The options travel in a file: what is on a command line, every user of the machine can read. */
function hostCommand(
  limits: ProcessLimits,
  folder: SessionFolder,
  command: SessionCommand,
  inside: string[],
): HostCommand {
  const bwrap = [...niceCommand(limits), 'bwrap', '--args', '9', '--'].join(' ');
  const script = `trap '' ${SENT_SIGNALS}; ${limitLines(limits)}exec ${bwrap} "$@" 9<"$0"`;
  const env = { ...HOST_ENVIRONMENT, [SESSION_ROOT_VARIABLE]: folder.root };
  return { program: '/bin/sh', args: ['-c', script, command.optionsFile, ...inside], env };
}
