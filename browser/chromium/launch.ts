import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { HoldfastError } from '../../contract/errors.ts';
import type { EgressProxy } from '../../egress/proxy.ts';
import { createCdpConnection, createPipeTransport, type CdpConnection } from '../cdp/connection.ts';
import { captureLog, partLogFile } from '../logs/part-log.ts';
import { sessionFolderOf } from '../process/session-folder.ts';
import { headfulUserAgent, type ChromiumBinary } from './binary.ts';
import { startDisplay } from './display.ts';
import { chromiumFlags, type LaunchChoices } from './flags.ts';
import { trackPages, type PageTracker } from './pages.ts';
import { wrapWithPolicy, type CommandLine } from './policy.ts';
import { createUserData, removeUserData, sessionsFolder, temporaryFolderOf } from './user-data.ts';

/** How long Chromium may take to start listening, in milliseconds; even a loaded machine needs only seconds. */
const START_TIMEOUT_MS = 30_000;
/** How much startup output is searched for the endpoint, in characters. */
const MAX_START_OUTPUT = 65_536;

/** A running Chromium. */
export interface Chromium {
  choices: LaunchChoices;
  /** Size of its pages; zero if not known yet. */
  viewport: { width: number; height: number };
  pid: number;
  /** The service's own connection, over a pipe. */
  cdp: CdpConnection;
  pages: PageTracker;
  /** Its private folder, the only host folder it may write to. */
  userDataDir: string;
  /** Its display, for example `:99`; null if headless. */
  display: string | null;
  /** Its own egress proxy, the only route to the network. */
  egress: EgressProxy;
  /** Browser endpoint on loopback, for clients of the websocket proxy. */
  wsEndpoint: string;
  /** Resolves when the process has exited, with its signal (`SIGKILL`) or exit code (`exit code 1`). */
  exited: Promise<string>;
  hasExited(): boolean;
  /** Kills the whole process group and removes the folder. Idempotent. */
  dispose(): Promise<void>;
}

interface LaunchDeps {
  binary: ChromiumBinary;
  workDir: string;
  /** Starts the egress proxy of one browser. */
  openEgress: () => Promise<EgressProxy>;
  noSandbox: boolean;
}

/** Starts a Chromium in its own folder and waits until it accepts commands. Rejects if it exits before that. */
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
  const cleanUp = (): Promise<unknown> => Promise.all([removeUserData(userDataDir), display?.stop(), egress.close()]);
  const { logs } = sessionFolderOf(userDataDir);
  if (display !== null) captureLog(display.stderr, partLogFile(logs, 'display'));
  const flags = chromiumFlags({
    choices,
    viewport,
    userDataDir,
    egressProxyUrl: egress.url,
    noSandbox: deps.noSandbox,
    userAgent: choices.stealth && choices.headless ? headfulUserAgent(deps.binary.version) : null,
  });
  let command: CommandLine = { program: deps.binary.path, args: flags };
  try {
    if (choices.policy !== null) command = await wrapWithPolicy(command, choices.policy, userDataDir);
  } catch (error) {
    await cleanUp();
    throw error;
  }
  const child = spawn(command.program, command.args, {
    // Its own process group, so that all its processes can be killed at once.
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
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${String(code)}`));
    child.once('error', (error) => resolve(error.name));
  });
  let disposed: Promise<void> | null = null;
  const dispose = (): Promise<void> => {
    disposed ??= (async () => {
      killGroup(child);
      await exited;
      await cleanUp();
    })();
    return disposed;
  };
  try {
    const [, , , toBrowser, fromBrowser] = child.stdio;
    const cdp = createCdpConnection(createPipeTransport(toBrowser as Writable, fromBrowser as Readable));
    const [pages, wsEndpoint] = await Promise.all([trackPages(cdp), readWsEndpoint(child, exited)]);
    return {
      choices,
      // With a window, the page's size is only known once the window exists.
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

/** Throws `operation_failed` if the size would change in kiosk mode. */
export function assertResizable(chromium: Chromium, { width, height }: { width: number; height: number }): void {
  if (!chromium.choices.kioskMode || (chromium.viewport.width === width && chromium.viewport.height === height)) return;
  throw new HoldfastError('operation_failed', 'viewport: cannot be changed in kiosk mode; omit it');
}

/** Resizes the active page's window to an inner size in CSS pixels, also for later tabs. Throws as {@link assertResizable}. */
export async function resizeViewport(chromium: Chromium, viewport: { width: number; height: number }): Promise<void> {
  const { width, height } = viewport;
  const page = chromium.pages.active();
  if (page === undefined || (chromium.viewport.width === width && chromium.viewport.height === height)) return;
  assertResizable(chromium, viewport);
  const { windowId } = await chromium.cdp.send('Browser.getWindowForTarget', { targetId: page.targetId });
  await chromium.cdp.send('Browser.setContentsSize', { windowId, width, height });
  chromium.viewport = { width, height };
}

/** The variables a program needs to run at all; keys and settings of the service are not passed on. */
function baseEnvironment(): Record<string, string | undefined> {
  const passed = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH', 'FONTCONFIG_PATH', 'FONTCONFIG_FILE'];
  return Object.fromEntries(passed.map((key) => [key, process.env[key]]));
}

/** Chromium prints its endpoint to stderr as soon as it listens, so its port file need not be polled. */
function readWsEndpoint(child: ChildProcess, exited: Promise<unknown>): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    let listening = false;
    const timer = setTimeout(() => {
      reject(new Error(`Chromium did not start within ${String(START_TIMEOUT_MS)} ms`));
    }, START_TIMEOUT_MS);
    child.stderr?.on('data', (data: Buffer) => {
      if (listening || output.length > MAX_START_OUTPUT) return;
      output += data.toString('utf8');
      const url = /DevTools listening on (ws:\/\/\S+)/.exec(output)?.[1];
      if (url === undefined) return;
      listening = true;
      clearTimeout(timer);
      resolve(url);
    });
    void exited.then(() => {
      clearTimeout(timer);
      reject(new Error(`Chromium exited during startup: ${lastLine(output)}`));
    });
  });
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 300) ?? 'no output';
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The whole group has exited already.
  }
}
