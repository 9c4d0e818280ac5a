import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { EgressProxy } from '../../egress/proxy.ts';
import type { CdpConnection } from '../cdp/connection.ts';
import { createCdpConnection, createPipeTransport } from '../cdp/connection.ts';
import { captureLog, partLogFile } from '../logs/part-log.ts';
import { sessionFolderOf } from '../process/session-folder.ts';
import type { ChromiumBinary } from './binary.ts';
import { windowedUserAgent } from './binary.ts';
import { startDisplay } from './display.ts';
import type { LaunchChoices } from './flags.ts';
import { chromiumFlags } from './flags.ts';
import type { PageTracker } from './pages.ts';
import { trackPages } from './pages.ts';
import type { CommandLine } from './policy-mount.ts';
import { wrapWithPolicy } from './policy-mount.ts';
import { createUserData, removeUserData, sessionsFolder, temporaryFolderOf } from './user-data.ts';

/** Longest a Chromium may take until it listens, in milliseconds. A loaded machine needs seconds, not more. */
const START_TIMEOUT_MS = 30_000;
/** How much of what it says while it starts is looked at, in characters. */
const MAX_START_OUTPUT = 65_536;

/** One running Chromium. */
export interface Chromium {
  choices: LaunchChoices;
  /** Size of its pages; zero when not known yet. */
  viewport: { width: number; height: number };
  pid: number;
  /** Our own connection, over a pipe. */
  cdp: CdpConnection;
  pages: PageTracker;
  /** Its private folder; nothing of the host but this may be written by it. */
  userDataDir: string;
  /** Its screen, for example `:99`; null without a window. */
  display: string | null;
  /** The guard that it has to itself, and its only way out. */
  egress: EgressProxy;
  /** Websocket of its browser endpoint on loopback, for clients that the proxy lets in. */
  wsEndpoint: string;
  /** Resolves when the process has ended, whoever ended it, with how: a signal (`SIGKILL`) or an exit code (`exit code 1`). */
  exited: Promise<string>;
  hasExited(): boolean;
  /** Kills it with all its processes and removes its folder. May be called twice. */
  dispose(): Promise<void>;
}

/** What {@link launchChromium} needs. */
export interface LaunchDeps {
  binary: ChromiumBinary;
  workDir: string;
  /** Starts the guard of one browser. */
  openEgress: () => Promise<EgressProxy>;
  noSandbox: boolean;
}

/** Starts a Chromium of its own folder and waits until it can be driven. Rejects when it ends before that. */
export async function launchChromium(
  deps: LaunchDeps,
  name: string,
  choices: LaunchChoices,
  viewport: { width: number; height: number },
): Promise<Chromium> {
  const display = choices.headless ? null : await startDisplay(viewport, choices.kioskMode);
  const userDataDir = path.join(sessionsFolder(deps.workDir), name);
  const egress = await createUserData(userDataDir)
    .then(deps.openEgress)
    .catch(async (error: unknown) => {
      await Promise.all([removeUserData(userDataDir), display?.stop()]);
      throw error;
    });
  const clear = (): Promise<unknown> => Promise.all([removeUserData(userDataDir), display?.stop(), egress.close()]);
  const { logs } = sessionFolderOf(userDataDir);
  if (display !== null) captureLog(display.said, partLogFile(logs, 'display'));
  const flags = chromiumFlags({
    choices,
    viewport,
    userDataDir,
    egressProxyUrl: egress.url,
    noSandbox: deps.noSandbox,
    userAgent: choices.stealth && choices.headless ? windowedUserAgent(deps.binary.version) : null,
  });
  const direct = { program: deps.binary.path, args: flags };
  const command = await prepare(direct, choices, userDataDir).catch(async (error: unknown) => {
    await clear();
    throw error;
  });
  const child = spawn(command.program, command.args, {
    // A group of its own, so that all its processes can be ended at once.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    env: {
      ...baseEnvironment(),
      HOME: userDataDir,
      TMPDIR: temporaryFolderOf(userDataDir),
      ...(display === null ? {} : { DISPLAY: display.name }),
    },
  });
  if (child.stderr !== null) captureLog(child.stderr, partLogFile(logs, 'chromium'));
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(signal ?? `exit code ${String(code)}`);
    });
    child.once('error', (error) => {
      resolve(error.name);
    });
  });
  let disposed: Promise<void> | null = null;
  const dispose = (): Promise<void> => {
    disposed ??= (async () => {
      killGroup(child);
      await exited;
      await clear();
    })();
    return disposed;
  };
  try {
    const [, , , toBrowser, fromBrowser] = child.stdio;
    const cdp = createCdpConnection(createPipeTransport(toBrowser as Writable, fromBrowser as Readable));
    const [pages, wsEndpoint] = await Promise.all([trackPages(cdp), readWsEndpoint(child, exited)]);
    return {
      choices,
      // With a window, how much of it is the page is only known once it is there.
      viewport: choices.headless || choices.kioskMode ? viewport : { width: 0, height: 0 },
      userDataDir,
      display: display?.name ?? null,
      pages,
      pid: child.pid ?? -1,
      cdp,
      egress,
      wsEndpoint,
      exited,
      hasExited: () => child.exitCode !== null || child.signalCode !== null,
      dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

function prepare(command: CommandLine, { policy }: LaunchChoices, userDataDir: string): Promise<CommandLine> {
  return policy === null ? Promise.resolve(command) : wrapWithPolicy(command, policy, userDataDir);
}

/** What a program needs of the environment to run at all; keys and settings of the service stay out. */
function baseEnvironment(): Record<string, string> {
  const kept = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH', 'FONTCONFIG_PATH', 'FONTCONFIG_FILE'];
  return Object.fromEntries(
    kept.flatMap((key) => {
      const value = process.env[key];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** Chromium says on standard error where it listens, the moment it does: no polling of its port file. */
function readWsEndpoint(child: ChildProcess, exited: Promise<unknown>): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    let listening = false;
    const timer = setTimeout(() => {
      reject(new Error(`Chromium did not start within ${String(START_TIMEOUT_MS)} ms`));
    }, START_TIMEOUT_MS);
    child.stderr?.on('data', (data: Buffer) => {
      // Later output goes to the log alone.
      if (listening || said.length > MAX_START_OUTPUT) return;
      said += data.toString('utf8');
      const url = /DevTools listening on (ws:\/\/\S+)/.exec(said)?.[1];
      if (url === undefined) return;
      listening = true;
      clearTimeout(timer);
      resolve(url);
    });
    void exited.then(() => {
      clearTimeout(timer);
      reject(new Error(`Chromium exited during startup: ${lastLine(said)}`));
    });
  });
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 300) ?? 'it said nothing';
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The whole group has ended already.
  }
}
