import { randomBytes } from 'node:crypto';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { PlaywrightTab, type PlaywrightExecute, type PlaywrightResult } from '../../contract/playwright.ts';
import type { CdpProxy } from '../cdp/proxy.ts';
import { processesOf } from '../process/session-processes.ts';
import type { Session } from '../session/session.ts';
import { readAnswer, serveCdp } from './channel.ts';

/** How much of each output is kept, in bytes. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Memory that the code's own objects may take, in MB. */
const MAX_HEAP_MB = 512;
/** Exit code of a process whose time was over. */
const TIMED_OUT_CODE = 124;

const Answer = z.object({
  success: z.boolean(),
  result: z.unknown().optional(),
  error: z.string().optional(),
  tab: PlaywrightTab.optional(),
});

/** The tab that code is to have: the page in use, or one that its executor has had, or that was opened for this call. */
export interface RunTab {
  targetId: string;
  kind: 'shared' | 'kept' | 'created';
}

/**
 * Runs a caller's code against the session's browser. It runs in a process of the session, like any that the caller could
 * start there: in its sandbox, without a network, without anything of the service but Node, Playwright and a socket to the
 * browser. What goes wrong in it is an answer, not an error. Throws `forbidden` where processes must not run.
 */
export async function executePlaywright(
  session: Session,
  proxy: CdpProxy,
  { code, timeout_sec }: Pick<PlaywrightExecute, 'code' | 'timeout_sec'>,
  openTab: () => Promise<RunTab>,
  gone: AbortSignal,
): Promise<PlaywrightResult> {
  const processes = processesOf(session);
  const program = await readProgram(code);
  if ('fault' in program) return { success: false, error: program.fault, stdout: '', stderr: '' };

  const folder = await mkdtemp(path.join(session.space.folder.work, 'run-'));
  try {
    const programFile = path.join(folder, 'program.mjs');
    await writeFile(programFile, program.module);
    const shown = {
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
        command: processes.sandboxPath(shown.node),
        args: [
          `--max-old-space-size=${String(MAX_HEAP_MB)}`,
          processes.sandboxPath(shown.runner),
          `${processes.sandboxPath(shown.playwright)}/index.mjs`,
          processes.sandboxPath(shown.program),
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
      Object.values(shown),
    );
    const stop = (): void => void running.signal('KILL');
    if (gone.aborted) stop();
    gone.addEventListener('abort', stop);
    const exitCode = await running.ended;
    gone.removeEventListener('abort', stop);
    return {
      ...judge(await answer, exitCode, timeout_sec),
      stdout: outputs.stdout.text(),
      stderr: outputs.stderr.text(),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function judge(answer: Buffer | null, exitCode: number, seconds: number): z.infer<typeof Answer> {
  if (answer === null) return { success: false, error: 'The result is too long' };
  const parsed = Answer.safeParse(jsonOf(answer));
  if (parsed.success) return parsed.data;
  const why =
    exitCode === TIMED_OUT_CODE
      ? `The code did not end within ${String(seconds)} seconds`
      : `The code's process ended before it returned (exit code ${String(exitCode)})`;
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

/** A caller's code as a module, or why it is none. */
type Program = { module: string } | { fault: string };

/** Name of the code in messages. */
const CODE_NAME = 'code';

/** Makes the body of a function, in TypeScript or JavaScript, a module that Node runs. The code itself is not run here. */
async function readProgram(code: string): Promise<Program> {
  // Loaded when it is first needed: most browser services never run such code.
  const { transform } = await import('esbuild');
  // On one line with the code's first, so that lines in messages are the caller's.
  const source = `export default async (page, context, browser) => { ${code}\n};\n`;
  try {
    const { code: module } = await transform(source, {
      loader: 'ts',
      format: 'esm',
      target: 'node20',
      sourcefile: CODE_NAME,
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
  return line === null ? 'the code cannot be read' : `line ${line[1] ?? ''}: ${line[2] ?? ''}`;
}
