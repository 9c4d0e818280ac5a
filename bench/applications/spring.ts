import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Place } from './application.ts';
import { optionArguments, run, startServer, type ServerProcess } from './server-process.ts';

/** A Spring Boot application of one class in the package `demo`. */
export interface SpringProgram {
  /** Its JAR is `target/<artifact>-1.jar`. */
  artifact: string;
  /** group:name[:version] */
  dependencies: readonly string[];
  className: string;
  source: string;
}

/** Builds the application's JAR unless it exists. Rejects if the build fails. */
export async function buildSpring(folder: string, program: SpringProgram): Promise<void> {
  if (existsSync(jarOf(folder, program))) return;
  const sources = join(folder, 'src', 'main', 'java', 'demo');
  await mkdir(sources, { recursive: true });
  await writeFile(join(folder, 'pom.xml'), pomOf(program));
  await writeFile(join(sources, `${program.className}.java`), program.source);
  await run('mvn', ['--quiet', '--batch-mode', 'package'], { cwd: folder });
}

/** Starts the application with these properties and waits until `path` is served. */
export function startSpring(
  { folder, data, port, url }: Place,
  program: SpringProgram,
  path: string,
  properties: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const all = { 'server.port': String(port), 'server.address': '127.0.0.1', ...properties };
  const args = ['-Xmx350m', '-jar', jarOf(folder, program), ...optionArguments(all)];
  return startServer('java', args, `${url}${path}`, { cwd: data });
}

function jarOf(folder: string, { artifact }: SpringProgram): string {
  return join(folder, 'target', `${artifact}-1.jar`);
}

function pomOf({ artifact, dependencies }: SpringProgram): string {
  const elements = dependencies.map((each) => {
    const [group, name, version] = each.split(':');
    const versionElement = version === undefined ? '' : `<version>${version}</version>`;
    return `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId>${versionElement}</dependency>`;
  });
  return `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>3.3.5</version></parent>
<groupId>demo</groupId><artifactId>${artifact}</artifactId><version>1</version>
<properties><java.version>17</java.version></properties>
<dependencies>
${elements.join('\n')}
</dependencies>
<build><plugins><plugin><groupId>org.springframework.boot</groupId><artifactId>spring-boot-maven-plugin</artifactId></plugin></plugins></build>
</project>
`;
}
