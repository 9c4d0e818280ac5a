import { createRequire } from 'node:module';
import Kernel, { APIError } from '@onkernel/sdk';
import { z } from 'zod';
import { onePasswordAnswers } from '../../test/credential-providers/connect-stand-in.ts';
import { startStandIn } from '../../test/credential-providers/stand-ins.ts';
import { startProcessTree, type ProcessTree } from '../../test/e2e/process-tree.ts';
import { CALLS, type Visit } from './calls.ts';
import { operationsOf } from './operations.ts';

/** How long one call may take, in milliseconds: a login that asks, and a pool that starts a browser, among them. */
const CALL_WITHIN_MS = 120_000;

const Version = z.object({ VERSION: z.string() });

/** What was tried beside the SDK, on 2026-11-23; this bench runs none of it. */
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

/** What came of one operation. */
export interface Row {
  operation: string;
  /** Null when it worked; else why it did not. */
  fault: string | null;
}

/** Calls every operation of the installed SDK on an installation of its own, in the order of the calls. */
export async function compareWithSdk(): Promise<Row[]> {
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

async function callAll(tree: ProcessTree, secretStoreUrl: string): Promise<Row[]> {
  const kernel = new Kernel({ apiKey: tree.apiKey, baseURL: tree.baseUrl, maxRetries: 0, timeout: CALL_WITHIN_MS });
  const { sandboxUrl, sandboxDomain } = tree;
  const visit: Visit = { kernel, sandboxUrl, sandboxDomain, secretStoreUrl, ids: {} };
  const faults = new Map<string, string | null>();
  for (const [operation, call] of Object.entries(CALLS)) {
    faults.set(operation, await faultOf(() => within(call(visit))));
  }
  return operationsOf(kernel).map((operation) => ({
    operation,
    fault: operation in CALLS ? (faults.get(operation) ?? null) : 'missing: no call of it is written',
  }));
}

/** The table as Markdown. */
export function compatibilityReport(rows: readonly Row[]): string {
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

function within(call: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in two minutes')), CALL_WITHIN_MS);
  });
  return Promise.race([call, late]).finally(() => {
    clearTimeout(timer);
  });
}
