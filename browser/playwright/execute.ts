import { randomBytes } from 'node:crypto';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { PlaywrightTab, type PlaywrightExecute, type PlaywrightResult } from '../../contract/playwright.ts';
import type { CdpProxy } from '../cdp/proxy.ts';
import { endOrKill, TIMED_OUT_CODE } from '../process/running-process.ts';
import { processesOf } from '../process/session-processes.ts';
import type { Session } from '../session/session.ts';
import { readAnswer, serveCdp } from './channel.ts';

/** How much of each output is kept, in bytes. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Heap limit of the code, in MB. */
const MAX_HEAP_MB = 512;
const Answer = z.object({
  success: z.boolean(),
  result: z.unknown().optional(),
  error: z.string().optional(),
  tab: PlaywrightTab.optional(),
});

/** The tab for the code: the active page, its executor's own, or one opened for this call. */
export interface RunTab {
  targetId: string;
  kind: 'shared' | 'kept' | 'created';
}

/**
 * Runs a caller's code against the session's browser, in a process of the session: sandboxed, without a network, with only Node,
 * Playwright and a socket to the browser. Failures of the code are results, not errors. Throws `forbidden` if processes are
 * disabled.
 */
export async function executePlaywright(
  session: Session,
  proxy: CdpProxy,
  { code, timeout_sec }: Pick<PlaywrightExecute, 'code' | 'timeout_sec'>,
  openTab: () => Promise<RunTab>,
  signal: AbortSignal,
): Promise<PlaywrightResult> {
  const processes = processesOf(session);
  const program = await readProgram(code);
  if ('fault' in program) return { success: false, error: program.fault, stdout: '', stderr: '' };

  const folder = await mkdtemp(path.join(session.workspace.folder.work, 'run-'));
  try {
    const programFile = path.join(folder, 'program.mjs');
    await writeFile(programFile, program.module);
    const mounts = {
      node: { name: 'node', source: await realpath(process.execPath) },
      playwright: { name: 'playwright-core', source: playwrightFolder() },
      runner: { name: 'runner.mjs', source: fileURLToPath(new URL('runner.mjs', import.meta.url)) },
      program: { name: 'program.mjs', source: programFile },
    };
    const tab = await openTab();
    const cdpPath = `/${randomBytes(16).toString('hex')}`;
    const outputs = { stdout: boundedText(), stderr: boundedText() };
    let answer: Promise<Buffer | null> = Promise.resolve(Buffer.alloc(0));
    const running = await processes.start(
      {
        command: processes.sandboxPath(mounts.node),
        args: [
          `--max-old-space-size=${String(MAX_HEAP_MB)}`,
          processes.sandboxPath(mounts.runner),
          `${processes.sandboxPath(mounts.playwright)}/index.mjs`,
          processes.sandboxPath(mounts.program),
        ],
        env: { HOLDFAST_RUN_PATH: cdpPath, HOLDFAST_RUN_TARGET: tab.targetId, HOLDFAST_RUN_TAB: tab.kind },
        timeout_sec,
      },
      {
        kind: 'pipes',
        stdin: false,
        channels: [(cdp) => serveCdp(proxy, session, cdp, cdpPath), (answers) => (answer = readAnswer(answers))],
      },
      (stream, data) => outputs[stream].push(data),
      Object.values(mounts),
    );
    const exitCode = await endOrKill(running, signal);
    return {
      ...resultOf(await answer, exitCode, timeout_sec),
      stdout: outputs.stdout.text(),
      stderr: outputs.stderr.text(),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function resultOf(answer: Buffer | null, exitCode: number, seconds: number): z.infer<typeof Answer> {
  if (answer === null) return { success: false, error: 'The result is too large' };
  const parsed = Answer.safeParse(jsonOf(answer));
  if (parsed.success) return parsed.data;
  const why =
    exitCode === TIMED_OUT_CODE
      ? `The code timed out after ${String(seconds)} seconds`
      : `The code's process exited before it returned (exit code ${String(exitCode)})`;
  return { success: false, error: why };
}

function jsonOf(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Keeps the beginning of an output. */
function boundedText() {
  const pieces: Buffer[] = [];
  let size = 0;
  return {
    push: (data: Buffer): undefined => {
      const kept = data.subarray(0, Math.max(0, MAX_OUTPUT_BYTES - size));
      size += kept.length;
      if (kept.length > 0) pieces.push(Buffer.from(kept));
    },
    text: (): string => Buffer.concat(pieces).toString('utf8'),
  };
}

function playwrightFolder(): string {
  return path.dirname(createRequire(import.meta.url).resolve('playwright-core/package.json'));
}

/** A caller's code as a module, or its syntax error. */
type Program = { module: string } | { fault: string };

/** Compiles a function body, in TypeScript or JavaScript, to a module for Node. Does not run it. */
async function readProgram(code: string): Promise<Program> {
  // Loaded on demand: most browser services never need it.
  const { transform } = await import('esbuild');
  // On the same line as the code, so that line numbers in messages match the caller's.
  const source = `export default async (page, context, browser) => { ${code}\n};\n`;
  try {
    const { code: module } = await transform(source, {
      loader: 'ts',
      format: 'esm',
      target: 'node20',
      sourcefile: 'code',
      tsconfigRaw: '{}',
      logLevel: 'silent',
    });
    return { module };
  } catch (error) {
    return { fault: `SyntaxError: ${firstMessage(error)}` };
  }
}

function firstMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : '';
  const line = /^code:(\d+):\d+: ERROR: (.*)$/m.exec(text);
  return line === null ? 'the code cannot be parsed' : `line ${line[1] ?? ''}: ${line[2] ?? ''}`;
}
