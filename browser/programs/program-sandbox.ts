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
import { processesOf } from '../process/session-processes.ts';
import { openSessionSpace, type SessionSpace } from '../session/space.ts';
import { type Bridge, openBridge } from './bridge.ts';
import type { Tools } from './tools.ts';

/** Ports inside a sandbox without a network that lead to the API and to the egress proxy. */
const API_PORT = 8080;
const PROXY_PORT = 8081;
/** Exit code of a process whose time was over. */
const TIMED_OUT_CODE = 124;
/** A program that answers more has it refused; a build's answer, with its schemas, is smaller by far. */
const MAX_ANSWER_BYTES = 4 * MAX_OUTPUT;

/** Longest log line that is passed on in one piece, in characters. */
const MAX_LINE = 16_384;

/** What a room is made of. */
export interface SandboxDeps {
  isolation: Isolation | null;
  workDir: string;
  tools: Tools;
  openEgress: () => Promise<EgressProxy>;
}

/** A sandbox for one run of a program: files, processes and a guarded way to the network, gone when it is closed. */
export interface ProgramSandbox {
  space: SessionSpace;
  /** What a program is told of its surroundings: where the API is, and by which proxy the rest of the world. */
  environment: Record<string, string>;
  /** Where something that the sandbox is shown is found inside. */
  sandboxPath(shown: MountedFile): string;
  /**
   * Runs a script of ours (`inside/`), with an input of its own; `wrap` sees what the script answered. `command`: what runs
   * it, Node when left out.
   */
  run(request: ScriptRun): Promise<ScriptResult>;
  close(): Promise<void>;
}

/** One run of a script. */
interface ScriptRun {
  script: string;
  command?: string;
  nodeOptions?: string[];
  input: Record<string, unknown>;
  env: Record<string, string>;
  shown: MountedFile[];
  timeoutSec: number;
  onLog: (line: string) => void;
  signal: AbortSignal;
}

/** What came of it: the answer as it was written, or how it ended without. */
export type ScriptResult = { answer: unknown } | { end: ProgramEnd };

/** Opens a room; `apiUrl` null gives a program no API. Throws `forbidden` where processes must not run. */
export async function openProgramSandbox(deps: SandboxDeps, apiUrl: string | null): Promise<ProgramSandbox> {
  const { isolation, tools } = deps;
  const place = path.join(sessionsFolder(deps.workDir), `program-${randomUUID()}`);
  await mkdir(place, { recursive: true, mode: 0o700 });
  const opened: (() => Promise<void>)[] = [() => removeUserData(place)];
  const close = async (): Promise<void> => {
    for (const end of opened.splice(0).reverse()) await end();
  };
  try {
    const space = await openSessionSpace(isolation, { userDataDir: place, display: null });
    opened.push(() => space.close());
    const processes = processesOf({ space });
    const bridges =
      isolation?.ownNetwork === true ? await openWays(deps, temporaryFolderOf(place), apiUrl, opened) : [];
    const sockets = bridges.map(({ name, bridge }): MountedFile => ({ name, source: bridge.file }));
    const inside = (script: string): string => `${processes.sandboxPath(tools.inside)}/${script}`;
    const ways = bridges.map(({ port }, index) => {
      const socket = sockets[index];
      return socket === undefined ? '' : `${String(port)}=${processes.sandboxPath(socket)}`;
    });

    return {
      space,
      close,
      sandboxPath: (shown) => processes.sandboxPath(shown),
      environment: environmentOf(isolation?.ownNetwork === true, apiUrl),
      run: async ({ script, command, nodeOptions = [], input, env, shown, timeoutSec, onLog, signal }) => {
        const file = path.join(space.folder.work, `${randomUUID()}.json`);
        await writeFile(file, JSON.stringify(input), { mode: 0o600 });
        // Read by another user inside; its folder is closed to all others.
        await chmod(file, 0o644);
        const given: MountedFile = { name: 'input.json', source: file };
        const node = processes.sandboxPath(tools.node);
        const wanted = [
          ...(command === undefined ? [node, ...nodeOptions] : [command]),
          ...[inside(script), processes.sandboxPath(given)],
        ];
        const [program = '', ...args] =
          ways.length === 0 ? wanted : [node, inside('launcher.mjs'), ...ways, '--', ...wanted];
        const lines = createLogLines(onLog);
        let answer: Promise<Buffer | null> = Promise.resolve(null);
        const running = await processes.start(
          { command: program, args, env, timeout_sec: timeoutSec, cwd: '/tmp' },
          { kind: 'pipes', stdin: false, channels: [(channel) => (answer = readAnswer(channel))] },
          (stream, data) => {
            lines.push(stream, data);
            return undefined;
          },
          [tools.node, tools.inside, tools.undici, given, ...sockets, ...shown],
        );
        const stop = (): void => void running.signal('KILL');
        if (signal.aborted) stop();
        signal.addEventListener('abort', stop);
        const exitCode = await running.ended;
        signal.removeEventListener('abort', stop);
        lines.flush();
        return judge(await answer, exitCode);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The ways out of a sandbox without a network: socket files, each of which leads to one address. */
async function openWays(
  { openEgress }: SandboxDeps,
  folder: string,
  apiUrl: string | null,
  opened: (() => Promise<void>)[],
): Promise<{ name: string; port: number; bridge: Bridge }[]> {
  const egress = await openEgress();
  opened.push(() => egress.close());
  const targets = [
    { name: 'egress', port: PROXY_PORT, url: egress.url },
    ...(apiUrl === null ? [] : [{ name: 'api', port: API_PORT, url: apiUrl }]),
  ];
  const ways = [];
  for (const { name, port, url } of targets) {
    const bridge = await openBridge(folder, name, new URL(url));
    opened.push(() => bridge.close());
    ways.push({ name, port, bridge });
  }
  return ways;
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

function judge(answer: Buffer | null, exitCode: number): ScriptResult {
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
