import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Kernel from '@onkernel/sdk';
import { say } from '../../start/terminal.ts';
import { SANDBOX_USERS } from '../../sandbox/users.ts';
import { personFor } from '../../test/e2e/person.ts';
import type { ProcessTree } from '../../test/e2e/process-tree.ts';
import { waitFor } from '../../test/e2e/until.ts';
import { startModel, type Model } from './model.ts';
import { install, lastOf, start, type RunningProgram } from './program.ts';

const RECIPES = 'docs/recipes';
/** Time for a recipe to create its connection; Python loads slowly on a busy machine. */
const CONNECTED_WITHIN_MS = 120_000;
const OWNER = SANDBOX_USERS.find(({ username }) => username === 'alice');

/** The result of one recipe. */
export interface RecipeResult {
  name: string;
  packages: string[];
  installedMs: number;
  ranMs: number;
  /** Requests answered by the stand-in model. */
  modelRequests: number;
  /** Null if it printed what only the account's owner sees. */
  fault: string | null;
}

type Installation = Pick<ProcessTree, 'apiKey' | 'baseUrl' | 'sandboxUrl' | 'sandboxDomain'>;

/**
 * Runs all recipes, or those named, as their README says: each in an empty folder, and with a person who logs in to the practice
 * site when asked. Rejects if a name is unknown.
 */
export async function tryRecipes(tree: Installation, names: readonly string[]): Promise<RecipeResult[]> {
  const entries = await readdir(RECIPES, { withFileTypes: true });
  const all = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Error(`There is no recipe ${unknown}; there are ${all.join(', ')}`);
  const model = await startModel();
  const tried: RecipeResult[] = [];
  try {
    for (const name of names.length > 0 ? names : all) {
      const one = await tryRecipe(tree, model, name);
      say(`${name}: ${one.fault ?? 'works'}`);
      tried.push(one);
    }
    return tried;
  } finally {
    model.close();
  }
}

/** The table as Markdown. */
export function recipesReport(tried: readonly RecipeResult[]): string {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  return [
    '| recipe | packages | install | run | model asked | |',
    '| --- | --- | --- | --- | --- | --- |',
    ...tried.map(({ name, packages, installedMs, ranMs, modelRequests, fault }) => {
      const outcome = fault?.split('\n')[0]?.replaceAll('|', '\\|') ?? '✓';
      return `| ${name} | ${packages.join(', ')} | ${seconds(installedMs)} | ${seconds(ranMs)} | ${modelRequests} | ${outcome} |`;
    }),
    '',
  ].join('\n');
}

async function tryRecipe(tree: Installation, model: Model, name: string): Promise<RecipeResult> {
  const folder = await mkdtemp(join(tmpdir(), `recipe-${name}-`));
  const result: RecipeResult = { name, packages: [], installedMs: 0, ranMs: 0, modelRequests: 0, fault: null };
  const kernel = new Kernel({ apiKey: tree.apiKey, baseURL: tree.baseUrl });
  try {
    await cp(join(RECIPES, name), folder, { recursive: true });
    const began = performance.now();
    const program = await install(folder);
    result.packages = program.packages;
    result.installedMs = performance.now() - began;
    const before = model.answered();
    const running = start(program, folder, environmentOf(tree, model));
    const [output] = await Promise.all([running.ended, logIn(kernel, tree.sandboxDomain, running)]);
    result.ranMs = performance.now() - began - result.installedMs;
    result.modelRequests = model.answered() - before;
    result.fault = faultOf(output, (await kernel.browsers.list()).items.length);
  } catch (error) {
    result.fault = error instanceof Error ? error.message : 'failed';
  } finally {
    await deleteLogins(kernel, tree.sandboxDomain);
    await rm(folder, { recursive: true, force: true });
  }
  return result;
}

/** The variables that the SDKs and clients of models read. */
function environmentOf(tree: Installation, model: Model): Record<string, string> {
  return {
    KERNEL_BASE_URL: tree.baseUrl,
    KERNEL_API_KEY: tree.apiKey,
    SITE_URL: tree.sandboxUrl,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'none-is-needed',
    OPENAI_MODEL: 'stand-in',
    ANONYMIZED_TELEMETRY: 'false',
  };
}

function faultOf(output: string, browsersLeft: number): string | null {
  if (!output.includes(OWNER?.name ?? 'nobody')) return `did not print the name\n${lastOf(output)}`;
  return browsersLeft === 0 ? null : 'left a browser open';
}

/** Answers the recipe's login as the account's owner. */
async function logIn(kernel: Kernel, domain: string, running: RunningProgram): Promise<void> {
  if (OWNER === undefined) throw new Error('The practice site has no alice');
  const connection = await waitFor(
    async () => {
      if (running.hasEnded()) throw new Error(`ended without a login\n${lastOf(running.output())}`);
      return (await kernel.auth.connections.list({ domain })).items[0] ?? null;
    },
    CONNECTED_WITHIN_MS,
    "the recipe's connection",
  );
  const person = personFor(kernel, connection.id);
  await person.waitForInput();
  await person.answer({ identifier: OWNER.username, password: OWNER.password });
}

/** Deletes all connections and profiles, so that the next recipe has to log in. */
async function deleteLogins(kernel: Kernel, domain: string): Promise<void> {
  for (const { id } of (await kernel.auth.connections.list({ domain })).items) await kernel.auth.connections.delete(id);
  for (const { id } of (await kernel.profiles.list()).items) await kernel.profiles.delete(id);
}
