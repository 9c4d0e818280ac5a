import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { MAX_OUTPUT, MAX_UNPACKED_BYTES } from '../../contract/apps.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { BuiltApps, type ProgramEnd, type ProgramRun } from '../../contract/programs.ts';
import { createFolder } from '../files/change-tree.ts';
import { unzipInto } from '../files/unzip.ts';
import { receiveFile } from '../files/write-file.ts';
import type { MountedFile } from '../process/isolation.ts';
import { PROCESSES_UNAVAILABLE } from '../process/session-processes.ts';
import { openProgramSandbox, type ProgramSandbox, type SandboxDeps, type ScriptResult } from './program-sandbox.ts';
import { createReceivedArchives } from './received-archives.ts';

/** Most concurrent runs; each is a process of Node or Python with its children. */
const MAX_RUNS = 20;
/** Most built programs on the disk; evicted ones are built again. */
const MAX_CACHED = 50;
/** Heap limit of a JavaScript program, in MB. */
const MAX_HEAP_MB = 512;
/** Limits on what an archive extracts to. */
const UNPACKED = { entries: 50_000, bytes: MAX_UNPACKED_BYTES };

/** Users' programs: built once, cached on the disk, run in sandboxes. */
export interface Programs {
  /** Receives the archive of a program to build. Throws `payload_too_large`. */
  receive(id: string, archive: Readable): Promise<void>;
  /**
   * Prepares a build or run, which starts when the result is called. Throws `not_found` if the program was not received, or not
   * built for an action; `forbidden` if processes are disabled; `capacity_exhausted`.
   */
  prepare(id: string, run: ProgramRun): Promise<StartProgram>;
}

/** Builds or runs a program. `onLog` receives its output by line; `signal` kills it. */
type StartProgram = (onLog: (line: string) => void, signal: AbortSignal) => Promise<ProgramEnd>;

/** Folder of programs below the work folder. */
export function programsFolder(workDir: string): string {
  return path.join(path.resolve(workDir), 'programs');
}

const Built = z.object({ apps: BuiltApps, entry: z.string(), language: z.enum(['javascript', 'python']) });
const Failed = z.object({ failed: z.string() });
const Output = z.object({ output: z.string().nullable() });
const Manifest = Built.pick({ entry: true, language: true });

/** Manages programs below the work folder. */
export function createPrograms(deps: SandboxDeps): Programs {
  const base = programsFolder(deps.workDir);
  const archives = createReceivedArchives(base);
  const { tools } = deps;
  const running = new Set<{ id: string }>();

  const build = async (id: string, run: ProgramRun, onLog: (line: string) => void, signal: AbortSignal) => {
    const source = archives.take(id);
    if (source === null) throw notFound();
    const sandbox = await openProgramSandbox(deps, null);
    try {
      const { files, folder } = sandbox.workspace;
      const archive = await receiveFile(files, createReadStream(source));
      try {
        await createFolder(files, '/app');
        await unzipInto(files, archive, '/app', UNPACKED);
      } catch (error) {
        if (!(error instanceof HoldfastError)) throw error;
        return failed(error.message.replace(/^zip_file: /, 'file: '));
      } finally {
        await archive.discard();
      }
      const inside = deps.isolation?.kind === 'none' ? path.join(folder.root, 'app') : '/app';
      const optional = [tools.npm, tools.esbuild, tools.typescript].filter((tool) => tool !== undefined);
      const script = (name: string): string => `${sandbox.sandboxPath(tools.inside)}/${name}`;
      const end = await sandbox.run({
        script: 'builder.mjs',
        input: {
          folder: inside,
          work: deps.isolation?.kind === 'none' ? path.join(folder.root, 'tmp') : '/tmp',
          entry: run.entrypoint,
          node: sandbox.sandboxPath(tools.node),
          undici: sandbox.sandboxPath(tools.undici),
          runner: script('runner.mjs'),
          pythonRunner: script('runner.py'),
          schemas: script('schemas.mjs'),
          ...(tools.npm === undefined ? {} : { npm: `${sandbox.sandboxPath(tools.npm)}/bin/npm-cli.js` }),
          ...(tools.esbuild === undefined ? {} : { esbuild: sandbox.sandboxPath(tools.esbuild) }),
          ...(tools.typescript === undefined ? {} : { typescript: sandbox.sandboxPath(tools.typescript) }),
        },
        env: { ...run.env, ...sandbox.environment },
        mounts: optional,
        timeoutSec: run.timeout_sec,
        onLog,
        signal,
      });
      const built = 'answer' in end ? Built.safeParse(end.answer) : null;
      if (built?.success !== true) return endOf(end);
      await install(path.join(folder.root, 'app'), path.join(base, id), built.data, (name) =>
        [...running].some((one) => one.id === name),
      );
      return { outcome: 'answered' as const, answer: JSON.stringify(built.data.apps) };
    } finally {
      await sandbox.close();
      // The archive is uploaded again for every build; its stored copy is encrypted.
      await rm(source, { force: true });
    }
  };

  const runAction = async (
    id: string,
    run: Extract<ProgramRun, { kind: 'action' }>,
    onLog: (line: string) => void,
    signal: AbortSignal,
  ) => {
    const folder = path.join(base, id);
    const manifest = await readManifest(folder);
    if (manifest === null) throw notFound();
    const sandbox: ProgramSandbox = await openProgramSandbox(deps, run.api_url);
    try {
      const app: MountedFile = { name: 'app', source: path.join(folder, 'app') };
      const isPython = manifest.language === 'python';
      const end = await sandbox.run({
        script: isPython ? 'runner.py' : 'runner.mjs',
        ...(isPython ? { command: 'python3' } : { nodeOptions: [`--max-old-space-size=${String(MAX_HEAP_MB)}`] }),
        input: {
          folder: sandbox.sandboxPath(app),
          entry: manifest.entry,
          undici: sandbox.sandboxPath(tools.undici),
          app: run.app,
          action: run.action,
          invocation_id: run.invocation_id,
          payload: run.payload,
        },
        env: { ...run.env, ...sandbox.environment },
        mounts: [app],
        timeoutSec: run.timeout_sec,
        onLog,
        signal,
      });
      const output = 'answer' in end ? Output.safeParse(end.answer) : null;
      if (output?.success !== true) return endOf(end);
      const { output: answer } = output.data;
      if (answer !== null && answer.length > MAX_OUTPUT) return { outcome: 'too_large' as const };
      return { outcome: 'answered' as const, answer };
    } finally {
      await sandbox.close();
    }
  };

  return {
    receive: (id, archive) => archives.receive(id, archive),
    prepare: async (id, run) => {
      if (deps.isolation === null) throw new HoldfastError('forbidden', PROCESSES_UNAVAILABLE);
      const isAvailable = run.kind === 'build' ? archives.has(id) : await exists(path.join(base, id, 'kept.json'));
      if (!isAvailable) throw notFound();
      if (running.size >= MAX_RUNS) throw atCapacity();
      return async (onLog, signal) => {
        const one = { id };
        running.add(one);
        try {
          return await (run.kind === 'build' ? build(id, run, onLog, signal) : runAction(id, run, onLog, signal));
        } finally {
          running.delete(one);
        }
      };
    },
  };
}

/** The outcome of a script without the expected answer. */
function endOf(end: ScriptResult): ProgramEnd {
  if ('end' in end) return end.end;
  const fault = Failed.safeParse(end.answer);
  return failed(fault.success ? fault.data.failed.slice(0, 4096) : 'The program sent an invalid answer');
}

function failed(reason: string): ProgramEnd {
  return { outcome: 'failed', reason };
}

/**
 * Moves a built program to its place, atomically, and evicts the least recently used ones that are not running. An existing program
 * was built from the same archive and may be running, so it stays.
 */
async function install(
  app: string,
  place: string,
  { entry, language }: z.infer<typeof Built>,
  isInUse: (id: string) => boolean,
): Promise<void> {
  const fresh = `${place}.${randomUUID()}`;
  await mkdir(fresh, { recursive: true, mode: 0o755 });
  await rename(app, path.join(fresh, 'app'));
  await writeFile(path.join(fresh, 'kept.json'), JSON.stringify({ entry, language }));
  try {
    await rename(fresh, place);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    if (!(await exists(path.join(place, 'kept.json')))) throw error;
  }
  const base = path.dirname(place);
  const names = (await readdir(base)).filter((name) => !name.includes('.'));
  const aged = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(path.join(base, name))).mtimeMs })),
  );
  const old = aged
    .sort((left, right) => right.at - left.at)
    .slice(MAX_CACHED)
    .filter(({ name }) => !isInUse(name));
  await Promise.all(old.map(({ name }) => rm(path.join(base, name), { recursive: true, force: true })));
}

async function readManifest(folder: string): Promise<z.infer<typeof Manifest> | null> {
  const text = await readFile(path.join(folder, 'kept.json'), 'utf8').catch(() => null);
  if (text === null) return null;
  const now = new Date();
  await utimes(folder, now, now).catch(() => undefined);
  const read: unknown = JSON.parse(text);
  return Manifest.parse(read);
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => null)) !== null;
}

function atCapacity(): HoldfastError {
  const fault = `The limit of ${String(MAX_RUNS)} concurrent programs is reached; retry later`;
  return new HoldfastError('capacity_exhausted', fault, { retryAfterSeconds: 2 });
}

function notFound(): HoldfastError {
  return new HoldfastError('not_found', 'Program not found; send its archive and build it');
}
