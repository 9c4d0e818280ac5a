import console from 'node:console';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

/**
 * Runs a user's JavaScript program: `runner.mjs <input file>`; without an action in the input, only lists the actions. Plain
 * JavaScript, because the sandbox contains only this folder. The answer goes to descriptor 3; a program that tampers with it
 * affects only its own answer.
 */
const input = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const answers = new Socket({ fd: 3 });
let answered = false;

function answer(content) {
  if (answered) return;
  answered = true;
  // Flush all output first: exiting would discard it.
  const streams = [answers, process.stdout, process.stderr];
  const sent = streams.map(
    (stream) => new Promise((resolve) => stream.write(stream === answers ? JSON.stringify(content) : '', resolve)),
  );
  void Promise.all(sent).then(() => answers.end(() => process.exit(0)));
}

function fail(error) {
  if (answered) return;
  const isError = typeof error === 'object' && error !== null && 'message' in error;
  console.error(isError && typeof error.stack === 'string' ? error.stack : error);
  answer({ failed: isError ? `${error.name}: ${error.message}` : String(error) });
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

/** Makes Node's `fetch` use the sandbox's proxy, because it ignores the environment variables. */
function useProxy() {
  if (input.undici === undefined || process.env.HTTPS_PROXY === undefined) return;
  const { EnvHttpProxyAgent, setGlobalDispatcher } = createRequire(import.meta.url)(input.undici);
  setGlobalDispatcher(new EnvHttpProxyAgent());
}

/** The apps that the program registered with the SDK, loaded by `import` or `require`. */
async function appsOf(entry) {
  const require = createRequire(entry);
  const found = new Map();
  const registries = [];
  const folder = sdkFolder(require);
  if (folder === null) throw new Error('The program does not use @onkernel/sdk; add it to its package.json');
  for (const load of [
    () => import(pathToFileURL(path.join(folder, 'index.mjs')).href),
    async () => require(path.join(folder, 'index.js')),
  ]) {
    registries.push(
      await load().then(
        ({ appRegistry }) => appRegistry,
        () => undefined,
      ),
    );
  }
  for (const registry of registries) for (const app of registry?.getApps() ?? []) found.set(app.name, app);
  return found;
}

function sdkFolder(require) {
  for (const folder of require.resolve.paths('@onkernel/sdk') ?? []) {
    const place = path.join(folder, '@onkernel/sdk');
    if (existsSync(path.join(place, 'package.json'))) return place;
  }
  return null;
}

try {
  process.chdir(input.folder);
  useProxy();
  const entry = path.join(input.folder, input.entry);
  await import(pathToFileURL(entry).href);
  const apps = await appsOf(entry);
  if (input.action === undefined) {
    answer({
      apps: [...apps.values()].map((app) => ({
        name: app.name,
        actions: app.getActions().map(({ name }) => ({ name })),
      })),
    });
  } else {
    const action = apps.get(input.app)?.getAction(input.action);
    if (action === undefined) throw new Error(`The program has no action ${input.action}`);
    const payload = input.payload === null ? undefined : JSON.parse(input.payload);
    const output = await action.handler({ invocation_id: input.invocation_id }, payload);
    answer({ output: output === undefined ? null : JSON.stringify(output) });
  }
} catch (error) {
  fail(error);
}
