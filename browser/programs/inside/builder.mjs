import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';
import process from 'node:process';
import console from 'node:console';
import { promisify } from 'node:util';

/**
 * Makes an unpacked archive a program that can be run: `builder.mjs <input file>`. Installs its dependencies, compiles
 * TypeScript, then asks the program itself for its actions. Runs in the sandbox like all that it starts, and is answered for
 * in descriptor 3 as a run is.
 */
const input = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { folder } = input;
const NO_REGISTRY =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|403 Forbidden|Tunnel connection failed|Max retries exceeded|NewConnectionError|Temporary failure in name resolution|502 Bad Gateway/;

/** A fault of what was deployed, said in full. */
class Fault extends Error {}

/** Runs a command with its output as the build's log. */
function run(command, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const [stream, out] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      stream.on('data', (data) => {
        said = (said + data).slice(-65536);
        out.write(data);
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, said }));
  });
}

async function install(what, command, args) {
  console.log(`Installing dependencies of ${what}`);
  const { code, said } = await run(command, args);
  if (code === 0) return;
  throw new Fault(
    NO_REGISTRY.test(said)
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
    throw new Fault('package.json is no JSON; correct it');
  }
  const wanted = Object.keys(manifest.dependencies ?? {});
  if (wanted.every((name) => existsSync(path.join(folder, 'node_modules', name)))) return;
  if (input.npm === undefined) throw new Fault('This machine has no npm; put node_modules into the archive');
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

/** TypeScript becomes one module beside its source; packages stay where they are. */
async function compile(entry) {
  if (input.esbuild === undefined) throw new Fault('This machine has no compiler for TypeScript; deploy JavaScript');
  const { dir, name } = path.parse(entry);
  const compiled = path.join(dir, `.holdfast-${name}.mjs`);
  const { code } = await run(input.esbuild, [
    entry,
    ...['--bundle', '--packages=external', '--platform=node', '--target=node20', '--format=esm'],
    // CommonJS among the sources asks for it.
    '--banner:js=import { createRequire as holdfastRequire } from "node:module"; globalThis.require ??= holdfastRequire(import.meta.url);',
    ...['--sourcemap=inline', '--log-level=warning', `--outfile=${compiled}`],
  ]);
  if (code !== 0) throw new Fault('The program does not compile; see the log of the deployment');
  return compiled;
}

/** What the program itself says that it has. */
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
        reject(new Fault('The program ended while its actions were read; see the log of the deployment'));
      }
    });
  });
}

/** Adds what can be learned of the types of actions; what cannot is null. */
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
    console.log('No schemas can be made of the types of the actions');
    return apps;
  }
}

function languageOf(entry) {
  const extension = path.extname(entry);
  if (['.js', '.mjs', '.cjs'].includes(extension)) return 'javascript';
  if (['.ts', '.mts', '.cts', '.tsx'].includes(extension)) return 'typescript';
  if (extension === '.py') return 'python';
  throw new Fault('entrypoint_rel_path: must end in .js, .mjs, .cjs, .ts, .mts, .cts, .tsx or .py');
}

async function build() {
  const { entry } = input;
  const language = languageOf(entry);
  if (!existsSync(path.join(folder, entry))) throw new Fault('entrypoint_rel_path: the archive has no such file');
  await (language === 'python' ? installRequirements() : installPackages());
  const runnable = language === 'typescript' ? await compile(entry) : entry;
  const described = await describe(language, runnable);
  if (described.failed !== undefined) throw new Fault(`The program cannot be loaded: ${described.failed}`);
  const withNames = described.apps.map((app) => ({
    ...app,
    actions: app.actions.map((action) => ({ input_schema: null, output_schema: null, ...action })),
  }));
  const apps = language === 'typescript' ? await withSchemas(withNames, entry) : withNames;
  if (apps.length === 0) throw new Fault("The program has no app; make one by `kernel.app('name')`");
  return { apps, entry: runnable, language: language === 'python' ? 'python' : 'javascript' };
}

const answers = new Socket({ fd: 3 });
const result = await build().catch((error) => ({
  failed: error instanceof Fault ? error.message : `The build failed: ${error.message}`,
}));
answers.end(JSON.stringify(result), () => process.exit(0));
