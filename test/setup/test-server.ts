import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOnPath, isExecutable, lastLine, run } from '../../start/setup/command.ts';
import { withProgress } from '../../start/setup/progress.ts';
import { SetupError } from '../../start/setup/setup-error.ts';
import { cacheRoot, downloadProgram, installAtomically, temporalArtifact } from '../../start/setup/tools.ts';

/** Version of Temporal's time-skipping test server. */
export const TEST_SERVER_VERSION = '1.38.0';
const NAME = `temporal-test-server-${TEST_SERVER_VERSION}`;
const PROGRAM = 'temporal-test-server';

/**
 * Path of the time-skipping test server, for `server.executable` of `@temporalio/testing`: on PATH, else cached, else
 * downloaded, else assembled from Maven Central behind a script that runs it with `java`.
 */
export async function findTestServer(): Promise<string> {
  const cached = join(cacheRoot(), NAME, PROGRAM);
  const found = (await findOnPath([PROGRAM])) ?? ((await isExecutable(cached)) ? cached : undefined);
  if (found !== undefined) return found;

  const reasons: string[] = [];
  const info = await temporalArtifact('temporal-test-server', `v${TEST_SERVER_VERSION}`);
  if (info) {
    try {
      await withProgress('Downloading the time-skipping test server', async (progress) => {
        await installAtomically(NAME, async (folder) => {
          await downloadProgram(info.archiveUrl, info.fileToExtract, folder, PROGRAM, progress);
        });
      });
      return cached;
    } catch (error) {
      reasons.push(`its download failed (${error instanceof Error ? error.message : 'unknown fault'})`);
    }
  } else {
    reasons.push('temporal.download cannot be reached');
  }

  const java = await findOnPath(['java']);
  const maven = await findOnPath(['mvn']);
  if (java === undefined) reasons.push('there is no `java` to run it with');
  if (maven === undefined) reasons.push('there is no `mvn` to fetch it with');
  if (java !== undefined && maven !== undefined) {
    try {
      await withProgress('Fetching the time-skipping test server from Maven Central', () => assemble(java, maven));
      return cached;
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : 'unknown fault');
    }
  }
  throw new SetupError(
    `No time-skipping Temporal test server: ${reasons.join('; ')}; install a Java 11+ runtime and Maven ` +
      `(Debian: apt-get install default-jre-headless maven), or put \`${PROGRAM}\` on PATH`,
  );
}

/** Copies the server's jar and its run-time dependencies, and writes the script that starts it. */
async function assemble(java: string, maven: string): Promise<void> {
  const project = await mkdtemp(join(tmpdir(), 'holdfast-maven-'));
  try {
    await writeFile(join(project, 'pom.xml'), pom());
    const libraries = join(project, 'lib');
    const copied = await run(
      maven,
      ['-q', '-B', 'dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${libraries}`],
      { cwd: project, timeoutMs: 600_000 },
    );
    if (!copied.ok) throw new Error(`mvn failed (${lastLine(copied.output)})`);
    await installAtomically(NAME, async (folder) => {
      await cp(libraries, join(folder, 'lib'), { recursive: true });
      const script = join(folder, PROGRAM);
      await writeFile(script, launcher(java));
      await chmod(script, 0o755);
    });
  } finally {
    await rm(project, { recursive: true, force: true });
  }
}

/** A small heap and the serial collector: the server starts faster, and a run starts many. */
function launcher(java: string): string {
  return [
    '#!/bin/sh',
    'here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)',
    `exec "${java}" -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$here/lib/*" io.temporal.testserver.TestServer "$@"`,
    '',
  ].join('\n');
}

function pom(): string {
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>holdfast</groupId><artifactId>test-server</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>io.temporal</groupId><artifactId>temporal-test-server</artifactId><version>${TEST_SERVER_VERSION}</version>
  </dependency><dependency>
    <groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version>
  </dependency></dependencies>
</project>
`;
}
