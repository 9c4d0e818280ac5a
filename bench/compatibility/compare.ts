import { createRequire } from 'node:module';
import Kernel, { APIError } from '@onkernel/sdk';
import { z } from 'zod';
import { onePasswordAnswers } from '../../test/credential-providers/connect-stand-in.ts';
import { startStandIn } from '../../test/credential-providers/stand-ins.ts';
import { startProcessTree, type ProcessTree } from '../../test/e2e/process-tree.ts';
import { CALLS, type CallContext } from './calls.ts';

/** Timeout of one call in milliseconds; some wait for a login or a browser start. */
const CALL_WITHIN_MS = 120_000;

const Version = z.object({ VERSION: z.string() });

/** Clients tested by hand on 2026-11-23; this bench does not run them. */
const OTHER_CLIENTS = [
  '**Python client**: the same operations. 0.96.0 and 0.131.0 run unchanged (a whole login in two steps, a browser on its profile, lists).',
  'Its newest groups, `vaults`, `vault_provider_configs`, `search`, `config_registry`, `telemetry.destinations`, and `repl`, `webmcp` and',
  '`playwright.executors` of browsers, return 404 with a message that names the alternative. Of its newest fields, `executor` of',
  '`playwright.execute` works; `policy` of API keys is refused, because keys here are not limited to single actions.',
  '',
  '**Tools**: Playwright, Puppeteer, Stagehand, browser-use, LangChain, the Vercel AI SDK and MCP clients are covered by [recipes](recipes/README.md),',
  'each run as a whole.',
  '',
  '**Clients tested by their requests only.** The packages of two clients were not available, so the requests in their published sources were sent instead:',
  '',
  '- The command line, with `KERNEL_API_KEY` and `KERNEL_BASE_URL`: connections (create, login, both ways to submit, follow, timeline, update, delete),',
  '  browsers, profiles, extensions, pools, deploy, invoke and their histories. All are answered. `kernel logs` shows the build log and ends',
  '  with the build; the log of a run needs `--invocation`. `kernel login` signs in at its vendor: use a key.',
  '- The React sign-in component (0.5), in Chromium on a page of another origin that `HOLDFAST_ALLOWED_ORIGINS` lists: exchange, read, stream and submit',
  '  of complete logins in one and two steps.',
  '',
  'The public MCP server was not tested; it calls the API through the SDK. Holdfast has [its own](mcp.md).',
];

/** The result of one operation. */
export interface OperationResult {
  operation: string;
  /** Null if it works. */
  fault: string | null;
}

/** Calls every operation of the installed SDK on a new installation. */
export async function compareWithSdk(): Promise<OperationResult[]> {
  const secretStore = await startStandIn(onePasswordAnswers);
  try {
    const tree = await startProcessTree({ HOLDFAST_ALLOW_PRIVATE_HOSTS: secretStore.host });
    try {
      return await callAll(tree, secretStore.address);
    } finally {
      await tree.remove();
    }
  } finally {
    await secretStore.close();
  }
}

async function callAll(tree: ProcessTree, secretStoreUrl: string): Promise<OperationResult[]> {
  const kernel = new Kernel({ apiKey: tree.apiKey, baseURL: tree.baseUrl, maxRetries: 0, timeout: CALL_WITHIN_MS });
  const { sandboxUrl, sandboxDomain } = tree;
  const context: CallContext = { kernel, sandboxUrl, sandboxDomain, secretStoreUrl, ids: {} };
  const faults = new Map<string, string | null>();
  for (const [operation, call] of Object.entries(CALLS)) {
    faults.set(operation, await faultOf(() => withTimeout(call(context))));
  }
  return operationsOf(kernel).map((operation) => ({
    operation,
    fault: operation in CALLS ? (faults.get(operation) ?? null) : 'missing: this bench does not call it yet',
  }));
}

/** The table as Markdown. */
export function compatibilityReport(rows: readonly OperationResult[]): string {
  const { VERSION: version } = Version.parse(createRequire(import.meta.url)('@onkernel/sdk/version'));
  const works = rows.filter(({ fault }) => fault === null).length;
  return [
    '# Compatibility',
    '',
    `Each operation of \`@onkernel/sdk\` ${version}, called on a running installation by \`npm run bench -- compatibility --save\`:`,
    `${String(works)} of ${String(rows.length)} work. The list is read from the SDK, so a new operation shows as missing.`,
    '',
    ...OTHER_CLIENTS,
    '',
    '| operation | |',
    '| --- | --- |',
    ...rows.map(({ operation, fault }) => `| \`${operation}\` | ${fault?.replaceAll('|', '\\|') ?? '✓'} |`),
    '',
  ].join('\n');
}

async function faultOf(call: () => Promise<unknown>): Promise<string | null> {
  try {
    await call();
    return null;
  } catch (error) {
    if (error instanceof APIError) return error.message;
    return error instanceof Error ? `${error.name}: ${error.message}` : 'failed';
  }
}

function withTimeout(call: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no response within two minutes')), CALL_WITHIN_MS);
  });
  return Promise.race([call, timeout]).finally(() => {
    clearTimeout(timer);
  });
}

/** Every operation of the installed SDK, such as `browsers.fs.readFile`, in the SDK's order. */
function operationsOf(kernel: Kernel): string[] {
  return Object.entries(kernel).flatMap(([name, resource]: [string, unknown]) =>
    isResource(resource) ? methodsOf(resource, name) : [],
  );
}

/** Resources of the SDK hold a reference to their client. */
function isResource(value: unknown): value is object {
  return typeof value === 'object' && value !== null && '_client' in value;
}

function methodsOf(resource: object, prefix: string): string[] {
  const prototype: unknown = Object.getPrototypeOf(resource);
  const own = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor' && !name.startsWith('_'));
  const nested = Object.entries(resource).flatMap(([name, value]: [string, unknown]) =>
    isResource(value) ? methodsOf(value, `${prefix}.${name}`) : [],
  );
  return [...own.map((name) => `${prefix}.${name}`), ...nested];
}
