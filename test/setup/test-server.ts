import { createHash } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findOnPath, isExecutable, lastLine, run } from '../../start/setup/command.ts';
import { withProgress } from '../../start/setup/progress.ts';
import { SetupError } from '../../start/setup/setup-error.ts';
import { cacheRoot, downloadProgram, installAtomically, temporalArtifact } from '../../start/setup/tools.ts';

/** Version of Temporal's time-skipping test server. */
export const TEST_SERVER_VERSION = '1.38.0';
const NAME = `temporal-test-server-${TEST_SERVER_VERSION}`;
const PROGRAM = 'temporal-test-server';
const STEP_TIMEOUT_MS = 600_000;
/**
 * Fixes bugs of the published server (temporalio/sdk-java#1138 and #3088, temporalio/sdk-typescript#1058):
 *
 * - It stops skipping time once a workflow closes while an activity, child or workflow task is open, or cancels an activity that
 *   has not started or waits for a retry.
 * - It reports the time of the previous failure as an attempt's scheduled time.
 * - It loses a workflow that cancels something that ends at the same moment.
 * - Each step searches all past locks of its clock, which dominates after some thousand steps.
 */
const PATCH = fileURLToPath(new URL('temporal-test-server.patch', import.meta.url));

/**
 * Path of the time-skipping test server, for `server.executable` of `@temporalio/testing`: on PATH, else built from Maven Central
 * and patched. Without Maven or a Java compiler, it is the published one with its bugs; tests of cancellation may then hang.
 */
export async function findTestServer(): Promise<string> {
  const reasons: string[] = [];
  const found =
    (await findOnPath([PROGRAM])) ?? (await findPatchedServer(reasons)) ?? (await findPublishedServer(reasons));
  if (found !== undefined) return found;
  throw new SetupError(
    `No time-skipping Temporal test server: ${reasons.join('; ')}; install a Java 11+ development kit and Maven ` +
      `(Debian: apt-get install default-jdk-headless maven), or put \`${PROGRAM}\` on PATH`,
  );
}

/** The patched server, cached or built now; undefined, with `reasons`, if it is unavailable. */
async function findPatchedServer(reasons: string[]): Promise<string | undefined> {
  const [java, javac, maven] = await Promise.all(['java', 'javac', 'mvn'].map((program) => findOnPath([program])));
  if (java === undefined || javac === undefined) reasons.push('`java` or `javac` was not found');
  if (maven === undefined) reasons.push('`mvn` was not found');
  if (java === undefined || javac === undefined || maven === undefined) return undefined;

  const patch = await readFile(PATCH, 'utf8');
  const name = `${NAME}-patched-${createHash('sha256').update(patch).digest('hex').slice(0, 12)}`;
  const program = join(cacheRoot(), name, PROGRAM);
  if (await isExecutable(program)) return program;
  try {
    await withProgress('Fetching the time-skipping test server from Maven Central', () =>
      assemble(name, patchedFiles(patch), { java, javac, maven }),
    );
    return program;
  } catch (error) {
    reasons.push(error instanceof Error ? error.message : 'unknown error');
    return undefined;
  }
}

/** The published server, cached or downloaded now; undefined, with `reasons`, if it is unavailable. */
async function findPublishedServer(reasons: string[]): Promise<string | undefined> {
  const program = join(cacheRoot(), NAME, PROGRAM);
  if (await isExecutable(program)) return program;
  const info = await temporalArtifact('temporal-test-server', `v${TEST_SERVER_VERSION}`);
  if (info === undefined) {
    reasons.push('temporal.download cannot be reached');
    return undefined;
  }
  try {
    await withProgress('Downloading the time-skipping test server', async (progress) => {
      await installAtomically(NAME, async (folder) => {
        await downloadProgram(info.archiveUrl, info.fileToExtract, folder, PROGRAM, progress);
      });
    });
    return program;
  } catch (error) {
    reasons.push(`its download failed (${error instanceof Error ? error.message : 'unknown error'})`);
    return undefined;
  }
}

/** Fetches the server's JARs, compiles the patched `files`, and writes a script that starts it. */
async function assemble(
  name: string,
  files: readonly string[],
  tools: { java: string; javac: string; maven: string },
): Promise<void> {
  const project = await mkdtemp(join(tmpdir(), 'holdfast-maven-'));
  try {
    await writeFile(join(project, 'pom.xml'), pom());
    const step = async (program: string, args: string[], cwd = project): Promise<void> => {
      const done = await run(program, args, { cwd, timeoutMs: STEP_TIMEOUT_MS });
      if (!done.ok) throw new Error(`${program} failed (${lastLine(done.output)})`);
    };
    const libraries = join(project, 'lib');
    const sources = join(project, 'sources');
    const classes = join(project, 'patched');
    await step(tools.maven, [
      ...['-q', '-B', 'dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${libraries}`],
    ]);
    await step(tools.maven, [
      ...['-q', '-B', 'dependency:unpack-dependencies', '-Dclassifier=sources', `-DoutputDirectory=${sources}`],
      ...['-DincludeArtifactIds=temporal-test-server'],
    ]);
    await step('git', ['apply', PATCH], sources);
    await mkdir(classes);
    await step(tools.javac, [
      '-nowarn',
      '-d',
      classes,
      '-cp',
      join(libraries, '*'),
      ...files.map((file) => join(sources, file)),
    ]);
    await installAtomically(name, async (folder) => {
      await cp(libraries, join(folder, 'lib'), { recursive: true });
      await cp(classes, join(folder, 'patched'), { recursive: true });
      const script = join(folder, PROGRAM);
      await writeFile(script, launcher(tools.java));
      await chmod(script, 0o755);
    });
  } finally {
    await rm(project, { recursive: true, force: true });
  }
}

/** Files changed by a patch. */
function patchedFiles(patch: string): string[] {
  return [...patch.matchAll(/^\+\+\+ b\/(.+)$/gm)].flatMap(([, file]) => file ?? []);
}

/** A small heap and the serial collector start faster, and a run starts many servers. */
function launcher(java: string): string {
  return [
    '#!/bin/sh',
    'here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)',
    `exec "${java}" -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$here/patched:$here/lib/*" io.temporal.testserver.TestServer "$@"`,
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
