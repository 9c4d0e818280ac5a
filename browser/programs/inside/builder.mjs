import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';
import process from 'node:process';
import console from 'node:console';
import { promisify } from 'node:util';

/**
 * Builds a program from an extracted archive: `builder.mjs <input file>`. Installs its dependencies, compiles TypeScript, then loads
 * the program to list its actions. Runs in the sandbox, and writes its answer to descriptor 3, like a run.
 */
const input = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { folder } = input;
const NO_REGISTRY =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|403 Forbidden|Tunnel connection failed|Max retries exceeded|NewConnectionError|Temporary failure in name resolution|502 Bad Gateway/;

/** An error of the deployed program, whose message is reported as it is. */
class ProgramError extends Error {}

/** Runs a command with its output as the build's log. */
function run(command, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const [stream, out] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      stream.on('data', (data) => {
        output = (output + data).slice(-65536);
        out.write(data);
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

async function install(what, command, args) {
  console.log(`Installing dependencies of ${what}`);
  const { code, output } = await run(command, args);
  if (code === 0) return;
  throw new ProgramError(
    NO_REGISTRY.test(output)
      ? `The dependencies of ${what} cannot be installed: the package registry cannot be reached from here. Put them into the archive, or let this installation reach the registry`
      : `The dependencies of ${what} cannot be installed (exit code ${code}); see the deployment's log`,
  );
}

async function installPackages() {
  const file = path.join(folder, 'package.json');
  if (!existsSync(file)) return;
  let manifest;
  try {
    manifest = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new ProgramError('package.json is not valid JSON; correct it');
  }
  const wanted = Object.keys(manifest.dependencies ?? {});
  if (wanted.every((name) => existsSync(path.join(folder, 'node_modules', name)))) return;
  if (input.npm === undefined) throw new ProgramError('This machine has no npm; put node_modules into the archive');
  const locked = existsSync(path.join(folder, 'package-lock.json'));
  const args = ['--omit=dev', '--no-audit', '--no-fund', '--fetch-retries=1'];
  await install('package.json', input.node, [input.npm, locked ? 'ci' : 'install', ...args]);
}

async function installRequirements() {
  if (!existsSync(path.join(folder, 'requirements.txt'))) return;
  const target = path.join(folder, '.python');
  if (existsSync(target)) return;
  const args = ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-cache-dir', '--retries', '1'];
  await install('requirements.txt', 'python3', [...args, '--target', target, '-r', 'requirements.txt']);
}

/** Bundles TypeScript sources into one module next to the entry; packages stay external. */
async function compile(entry) {
  if (input.esbuild === undefined)
    throw new ProgramError('This machine has no compiler for TypeScript; deploy JavaScript');
  const { dir, name } = path.parse(entry);
  const compiled = path.join(dir, `.holdfast-${name}.mjs`);
  const { code } = await run(input.esbuild, [
    entry,
    ...['--bundle', '--packages=external', '--platform=node', '--target=node20', '--format=esm'],
    // Bundled CommonJS sources need `require`.
    '--banner:js=import { createRequire as holdfastRequire } from "node:module"; globalThis.require ??= holdfastRequire(import.meta.url);',
    ...['--sourcemap=inline', '--log-level=warning', `--outfile=${compiled}`],
  ]);
  if (code !== 0) throw new ProgramError('The program does not compile; see the deployment log');
  return compiled;
}

/** Loads the program to list its apps and actions. */
async function describe(language, entry) {
  const file = path.join(input.work, 'describe.json');
  writeFileSync(file, JSON.stringify({ folder, entry, undici: input.undici }));
  const [command, runner] = language === 'python' ? ['python3', input.pythonRunner] : [input.node, input.runner];
  return new Promise((resolve, reject) => {
    const child = spawn(command, [runner, file], { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
    let text = '';
    child.stdio[3].on('data', (data) => (text += data));
    child.once('error', reject);
    child.once('close', () => {
      try {
        resolve(JSON.parse(text));
      } catch {
        reject(new ProgramError('The program exited while its actions were listed; see the deployment log'));
      }
    });
  });
}

/** Adds the schemas of actions; null where they cannot be derived. */
async function withSchemas(apps, entry) {
  if (input.schemas === undefined) return apps;
  const compilers = [path.join(folder, 'node_modules/typescript'), input.typescript];
  const typescript = compilers.find((place) => place !== undefined && existsSync(place));
  if (typescript === undefined) return apps;
  try {
    const { stdout } = await promisify(execFile)(
      input.node,
      ['--max-old-space-size=1024', input.schemas, typescript, path.join(folder, entry)],
      { maxBuffer: 8 * 1024 * 1024, timeout: 60_000 },
    );
    const found = JSON.parse(stdout);
    return apps.map((app) => ({
      ...app,
      actions: app.actions.map((action) => ({ ...action, ...found[action.name] })),
    }));
  } catch {
    console.log('No schemas could be derived from the types of the actions');
    return apps;
  }
}

function languageOf(entry) {
  const extension = path.extname(entry);
  if (['.js', '.mjs', '.cjs'].includes(extension)) return 'javascript';
  if (['.ts', '.mts', '.cts', '.tsx'].includes(extension)) return 'typescript';
  if (extension === '.py') return 'python';
  throw new ProgramError('entrypoint_rel_path: must end in .js, .mjs, .cjs, .ts, .mts, .cts, .tsx or .py');
}

async function build() {
  const { entry } = input;
  const language = languageOf(entry);
  if (!existsSync(path.join(folder, entry)))
    throw new ProgramError('entrypoint_rel_path: the archive has no such file');
  await (language === 'python' ? installRequirements() : installPackages());
  const runnable = language === 'typescript' ? await compile(entry) : entry;
  const described = await describe(language, runnable);
  if (described.failed !== undefined) throw new ProgramError(`The program cannot be loaded: ${described.failed}`);
  const withNames = described.apps.map((app) => ({
    ...app,
    actions: app.actions.map((action) => ({ input_schema: null, output_schema: null, ...action })),
  }));
  const apps = language === 'typescript' ? await withSchemas(withNames, entry) : withNames;
  if (apps.length === 0) throw new ProgramError("The program has no app; create one with `kernel.app('name')`");
  return { apps, entry: runnable, language: language === 'python' ? 'python' : 'javascript' };
}

const answers = new Socket({ fd: 3 });
const result = await build().catch((error) => ({
  failed: error instanceof ProgramError ? error.message : `The build failed: ${error.message}`,
}));
answers.end(JSON.stringify(result), () => process.exit(0));
