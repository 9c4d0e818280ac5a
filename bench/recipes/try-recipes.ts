import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Kernel from '@onkernel/sdk';
import { say } from '../../start/terminal.ts';
import { SANDBOX_USERS } from '../../sandbox/users.ts';
import { personAt } from '../../test/e2e/person.ts';
import { until, type ProcessTree } from '../../test/e2e/process-tree.ts';
import { startModel, type Model } from './model.ts';
import { install, lastOf, start, type Running } from './program.ts';

const RECIPES = 'docs/recipes';
/** Longest until a recipe has made its connection: Python loads slowly on a busy machine. */
const BEGUN_WITHIN_MS = 120_000;
const OWNER = SANDBOX_USERS.find(({ username }) => username === 'alice');

/** What came of one recipe. */
export interface Tried {
  name: string;
  packages: string[];
  installedMs: number;
  ranMs: number;
  /** Questions that the stand-in for a model answered. */
  asked: number;
  /** Null when it printed what only the account's owner sees. */
  fault: string | null;
}

type Installation = Pick<ProcessTree, 'apiKey' | 'baseUrl' | 'sandboxUrl' | 'sandboxDomain'>;

/**
 * Runs each recipe (or those that are named) as its README says, in a folder where nothing else is, on an installation whose
 * practice site has a person who logs in when asked. Rejects when a name is of no recipe.
 */
export async function tryRecipes(tree: Installation, names: readonly string[]): Promise<Tried[]> {
  const entries = await readdir(RECIPES, { withFileTypes: true });
  const all = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Error(`There is no recipe ${unknown}; there are ${all.join(', ')}`);
  const model = await startModel();
  const tried: Tried[] = [];
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
export function recipesReport(tried: readonly Tried[]): string {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  return [
    '| recipe | packages | install | run | model asked | |',
    '| --- | --- | --- | --- | --- | --- |',
    ...tried.map(({ name, packages, installedMs, ranMs, asked, fault }) => {
      const told = fault?.split('\n')[0]?.replaceAll('|', '\\|') ?? '✓';
      return `| ${name} | ${packages.join(', ')} | ${seconds(installedMs)} | ${seconds(ranMs)} | ${asked} | ${told} |`;
    }),
    '',
  ].join('\n');
}

async function tryRecipe(tree: Installation, model: Model, name: string): Promise<Tried> {
  const folder = await mkdtemp(join(tmpdir(), `recipe-${name}-`));
  const tried: Tried = { name, packages: [], installedMs: 0, ranMs: 0, asked: 0, fault: null };
  const kernel = new Kernel({ apiKey: tree.apiKey, baseURL: tree.baseUrl });
  try {
    await cp(join(RECIPES, name), folder, { recursive: true });
    const began = performance.now();
    const program = await install(folder);
    tried.packages = program.packages;
    tried.installedMs = performance.now() - began;
    const before = model.answered();
    const running = start(program, folder, environmentOf(tree, model));
    const [output] = await Promise.all([running.ended, logIn(kernel, tree.sandboxDomain, running)]);
    tried.ranMs = performance.now() - began - tried.installedMs;
    tried.asked = model.answered() - before;
    tried.fault = faultOf(output, (await kernel.browsers.list()).items.length);
  } catch (error) {
    tried.fault = error instanceof Error ? error.message : 'failed';
  } finally {
    await forget(kernel, tree.sandboxDomain);
    await rm(folder, { recursive: true, force: true });
  }
  return tried;
}

/** The SDKs' own names, and those of clients of models. */
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
  if (!output.includes(OWNER?.name ?? 'nobody')) return `printed no name\n${lastOf(output)}`;
  return browsersLeft === 0 ? null : 'left a browser open';
}

/** The person whom the recipe's login asks. */
async function logIn(kernel: Kernel, domain: string, running: Running): Promise<void> {
  if (OWNER === undefined) throw new Error('The practice site has no alice');
  const connection = await until(
    async () => {
      // Its own end says why.
      if (running.hasEnded()) throw new Error(`asked nobody to log in\n${lastOf(running.output())}`);
      return (await kernel.auth.connections.list({ domain })).items[0] ?? null;
    },
    BEGUN_WITHIN_MS,
    'the connection of the recipe',
  );
  const person = personAt(kernel, connection.id);
  await person.asked();
  await person.give({ identifier: OWNER.username, password: OWNER.password });
}

/** So that the next recipe has to log in by itself. */
async function forget(kernel: Kernel, domain: string): Promise<void> {
  for (const { id } of (await kernel.auth.connections.list({ domain })).items) await kernel.auth.connections.delete(id);
  for (const { id } of (await kernel.profiles.list()).items) await kernel.profiles.delete(id);
}
