import { aptInstall, canAptInstall, findOnPath, lastLine, run } from '../../start/setup/command.ts';
import { withProgress } from '../../start/setup/progress.ts';
import { SetupError } from '../../start/setup/setup-error.ts';

/** A command that reads compose files, with its first arguments. */
export type ComposeCommand = readonly [program: string, ...args: string[]];

/**
 * Docker's compose, to check docker-compose.yml (it needs no Docker daemon for that): the plugin, else the stand-alone
 * program, else installed by apt-get. Rejects with a {@link SetupError} that says how to get it.
 */
export async function findCompose(): Promise<ComposeCommand> {
  const docker = await findOnPath(['docker']);
  if (docker !== undefined && (await run(docker, ['compose', 'version'])).ok) return [docker, 'compose'];
  const found = await findOnPath(['docker-compose']);
  if (found !== undefined) return [found];
  let why = 'neither `docker compose` nor `docker-compose` is here';
  if (await canAptInstall()) {
    const installed = await withProgress('Installing docker-compose with apt-get (to check our file)', () =>
      aptInstall(['docker-compose'], () => undefined),
    );
    const fromDebian = await findOnPath(['docker-compose']);
    if (fromDebian !== undefined) return [fromDebian];
    why = `apt-get failed (${lastLine(installed.output)})`;
  }
  throw new SetupError(`No docker compose: ${why}; install its plugin (docs.docker.com/compose/install)`);
}
