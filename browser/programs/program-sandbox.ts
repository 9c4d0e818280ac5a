import { randomUUID } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { MAX_OUTPUT } from '../../contract/apps.ts';
import type { ProgramEnd } from '../../contract/programs.ts';
import type { EgressProxy } from '../../egress/proxy.ts';
import { removeUserData, sessionsFolder, temporaryFolderOf } from '../chromium/user-data.ts';
import { readAnswer } from '../playwright/channel.ts';
import type { Isolation, MountedFile } from '../process/isolation.ts';
import { endOrKill, TIMED_OUT_CODE } from '../process/running-process.ts';
import { processesOf } from '../process/session-processes.ts';
import { openWorkspace, type Workspace } from '../session/workspace.ts';
import { type Bridge, openBridge } from './bridge.ts';
import type { Tools } from './tools.ts';

/** Ports inside a sandbox without a network that forward to the API and the egress proxy. */
const API_PORT = 8080;
const PROXY_PORT = 8081;
/** Largest answer of a script; that of a build is much smaller. */
const MAX_ANSWER_BYTES = 4 * MAX_OUTPUT;

/** Longest log line that is passed on in one piece, in characters. */
const MAX_LINE = 16_384;

export interface SandboxDeps {
  isolation: Isolation | null;
  workDir: string;
  tools: Tools;
  openEgress: () => Promise<EgressProxy>;
}

/** A sandbox for one run of a program: files, processes and guarded network access. Deleted on close. */
export interface ProgramSandbox {
  workspace: Workspace;
  /** Environment variables with the API's address and the egress proxy. */
  environment: Record<string, string>;
  /** Path of a mounted file inside the sandbox. */
  sandboxPath(file: MountedFile): string;
  /** Runs one of the scripts in `inside/`. */
  run(request: ScriptRun): Promise<ScriptResult>;
  close(): Promise<void>;
}

interface ScriptRun {
  script: string;
  /** Interpreter; Node by default. */
  command?: string;
  nodeOptions?: string[];
  input: Record<string, unknown>;
  env: Record<string, string>;
  mounts: MountedFile[];
  timeoutSec: number;
  onLog: (line: string) => void;
  signal: AbortSignal;
}

/** A script's answer, or how it ended without one. */
export type ScriptResult = { answer: unknown } | { end: ProgramEnd };

/** Opens a sandbox, without API access if `apiUrl` is null. Throws `forbidden` if processes are disabled. */
export async function openProgramSandbox(deps: SandboxDeps, apiUrl: string | null): Promise<ProgramSandbox> {
  const { isolation, tools } = deps;
  const place = path.join(sessionsFolder(deps.workDir), `program-${randomUUID()}`);
  await mkdir(place, { recursive: true, mode: 0o700 });
  const cleanups: (() => Promise<void>)[] = [() => removeUserData(place)];
  const close = async (): Promise<void> => {
    for (const end of cleanups.splice(0).reverse()) await end();
  };
  try {
    const workspace = await openWorkspace(isolation, { userDataDir: place, display: null });
    cleanups.push(() => workspace.close());
    const processes = processesOf({ workspace });
    const bridges =
      isolation?.ownNetwork === true ? await openBridges(deps, temporaryFolderOf(place), apiUrl, cleanups) : [];
    const sockets = bridges.map(({ name, bridge }): MountedFile => ({ name, source: bridge.file }));
    const inside = (script: string): string => `${processes.sandboxPath(tools.inside)}/${script}`;
    const forwards = bridges.map(({ port }, index) => {
      const socket = sockets[index];
      return socket === undefined ? '' : `${String(port)}=${processes.sandboxPath(socket)}`;
    });

    return {
      workspace,
      close,
      sandboxPath: (file) => processes.sandboxPath(file),
      environment: environmentOf(isolation?.ownNetwork === true, apiUrl),
      run: async ({ script, command, nodeOptions = [], input, env, mounts, timeoutSec, onLog, signal }) => {
        const file = path.join(workspace.folder.work, `${randomUUID()}.json`);
        await writeFile(file, JSON.stringify(input), { mode: 0o600 });
        // The user in the sandbox is another one; the file's folder is private.
        await chmod(file, 0o644);
        const inputFile: MountedFile = { name: 'input.json', source: file };
        const node = processes.sandboxPath(tools.node);
        const scriptCommand = [
          ...(command === undefined ? [node, ...nodeOptions] : [command]),
          ...[inside(script), processes.sandboxPath(inputFile)],
        ];
        const [program = '', ...args] =
          forwards.length === 0 ? scriptCommand : [node, inside('launcher.mjs'), ...forwards, '--', ...scriptCommand];
        const lines = createLogLines(onLog);
        let answer: Promise<Buffer | null> = Promise.resolve(null);
        const running = await processes.start(
          { command: program, args, env, timeout_sec: timeoutSec, cwd: '/tmp' },
          { kind: 'pipes', stdin: false, channels: [(channel) => (answer = readAnswer(channel))] },
          (stream, data) => {
            lines.push(stream, data);
            return undefined;
          },
          [tools.node, tools.inside, tools.undici, inputFile, ...sockets, ...mounts],
        );
        const exitCode = await endOrKill(running, signal);
        lines.flush();
        return resultOf(await answer, exitCode);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the bridges from a sandbox without a network to the egress proxy and the API. */
async function openBridges(
  { openEgress }: SandboxDeps,
  folder: string,
  apiUrl: string | null,
  cleanups: (() => Promise<void>)[],
): Promise<{ name: string; port: number; bridge: Bridge }[]> {
  const egress = await openEgress();
  cleanups.push(() => egress.close());
  const targets = [
    { name: 'egress', port: PROXY_PORT, url: egress.url },
    ...(apiUrl === null ? [] : [{ name: 'api', port: API_PORT, url: apiUrl }]),
  ];
  const opened = [];
  for (const { name, port, url } of targets) {
    const bridge = await openBridge(folder, name, new URL(url));
    cleanups.push(() => bridge.close());
    opened.push({ name, port, bridge });
  }
  return opened;
}

function environmentOf(ownNetwork: boolean, apiUrl: string | null): Record<string, string> {
  if (!ownNetwork) return apiUrl === null ? {} : { KERNEL_BASE_URL: apiUrl };
  const api = `127.0.0.1:${String(API_PORT)}`;
  const proxy = `http://127.0.0.1:${String(PROXY_PORT)}`;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'];
  return {
    ...Object.fromEntries(names.map((name) => [name, proxy])),
    ...{ NO_PROXY: api, no_proxy: api, NODE_USE_ENV_PROXY: '1' },
    ...(apiUrl === null ? {} : { KERNEL_BASE_URL: `http://${api}` }),
  };
}

function resultOf(answer: Buffer | null, exitCode: number): ScriptResult {
  if (answer === null || answer.length > MAX_ANSWER_BYTES) return { end: { outcome: 'too_large' } };
  if (exitCode === TIMED_OUT_CODE) return { end: { outcome: 'timed_out' } };
  try {
    const read: unknown = JSON.parse(answer.toString('utf8'));
    return { answer: read };
  } catch {
    return { end: { outcome: 'exited', exit_code: exitCode } };
  }
}

/**
 * Splits a program's output into lines, per stream; `flush` passes on an unterminated last line. NUL is removed: Postgres
 * does not store it.
 */
function createLogLines(onLine: (line: string) => void) {
  const streams = { stdout: openStream(), stderr: openStream() };
  return {
    push: (stream: 'stdout' | 'stderr', data: Buffer): void => {
      const held = streams[stream];
      held.rest += held.decoder.write(data);
      const lines = held.rest.split(/\r?\n/);
      held.rest = lines.pop() ?? '';
      for (const line of lines) emit(line, onLine);
      if (held.rest.length >= MAX_LINE) {
        emit(held.rest, onLine);
        held.rest = '';
      }
    },
    flush: (): void => {
      for (const held of Object.values(streams)) if (held.rest !== '') emit(held.rest, onLine);
    },
  };
}

function openStream(): { decoder: StringDecoder; rest: string } {
  return { decoder: new StringDecoder('utf8'), rest: '' };
}

function emit(line: string, onLine: (line: string) => void): void {
  const text = line.replaceAll('\0', '');
  for (let at = 0; at === 0 || at < text.length; at += MAX_LINE) onLine(text.slice(at, at + MAX_LINE));
}
