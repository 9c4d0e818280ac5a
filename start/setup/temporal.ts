import { join } from 'node:path';
import { findOnPath, isExecutable, lastLine, run } from './command.ts';
import { withProgress } from './progress.ts';
import type { Progress } from './progress.ts';
import { SetupError } from './setup-error.ts';
import { cacheRoot, downloadProgram, installAtomically, temporalArtifact } from './tools.ts';

/** The version to download or build. Later modules have `replace` directives, which `go install` rejects. */
export const TEMPORAL_CLI_VERSION = '1.5.1';
const MODULE = `github.com/temporalio/cli/cmd/temporal@v${TEMPORAL_CLI_VERSION}`;

/**
 * Path of a Temporal CLI: on PATH, else in the cache, else downloaded, else built with Go into the cache.
 * Rejects with a {@link SetupError} that says how to install one.
 */
export async function findTemporalCli(): Promise<string> {
  const name = `temporal-${TEMPORAL_CLI_VERSION}`;
  const cached = join(cacheRoot(), name, 'temporal');
  const found = (await findOnPath(['temporal'])) ?? ((await isExecutable(cached)) ? cached : undefined);
  if (found !== undefined) return found;

  const reasons: string[] = [];
  const info = await temporalArtifact('cli', `v${TEMPORAL_CLI_VERSION}`);
  if (info) {
    try {
      await withProgress('Downloading the Temporal dev server', async (progress) => {
        await installAtomically(name, async (folder) => {
          await downloadProgram(info.archiveUrl, info.fileToExtract, folder, 'temporal', progress);
        });
      });
      return cached;
    } catch (error) {
      reasons.push(`its download failed (${error instanceof Error ? error.message : 'unknown error'})`);
    }
  } else {
    reasons.push('temporal.download is unreachable');
  }

  const go = await findOnPath(['go'], `${process.env.PATH ?? ''}:/usr/local/go/bin`);
  if (go === undefined) {
    reasons.push('no Go toolchain to build it');
  } else {
    const built = await withProgress('Building the Temporal dev server with Go (about 5 minutes, once)', (progress) =>
      buildWithGo(go, name, progress),
    );
    if (built.ok) return cached;
    reasons.push(`\`go install ${MODULE}\` failed (${lastLine(built.output)})`);
  }
  throw new SetupError(
    `No Temporal server: ${reasons.join('; ')}; install the Temporal CLI (docs.temporal.io/cli) so that \`temporal\` is ` +
      'on PATH, or set TEMPORAL_ADDRESS to a running server',
  );
}

async function buildWithGo(go: string, name: string, progress: Progress): Promise<{ ok: boolean; output: string }> {
  let result = { ok: false, output: '' };
  let packages = 0;
  await installAtomically(name, async (folder) => {
    result = await run(go, ['install', '-v', MODULE], {
      env: { ...process.env, GOBIN: folder },
      onLine: () => {
        packages += 1;
        progress.note(`${String(packages)} packages`);
      },
    });
    if (!result.ok) throw new Error(result.output);
  }).catch((error: unknown) => {
    result = { ok: false, output: error instanceof Error ? error.message : 'unknown error' };
  });
  return result;
}
