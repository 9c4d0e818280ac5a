import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseSettings } from '../../start/settings.ts';
import { run } from '../../start/setup/command.ts';
import { findCompose } from './compose.ts';

const ComposeFile = z.object({
  services: z.record(
    z.string(),
    z.object({
      command: z.array(z.string()).optional(),
      environment: z.record(z.string(), z.string()).optional(),
      volumes: z.array(z.string()).optional(),
      depends_on: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
  volumes: z.record(z.string(), z.unknown()),
});

const readFileParsed = async () =>
  ComposeFile.parse(parse(await readFile('docker-compose.yml', 'utf8'), { merge: true }));

test('compose accepts the file without any variable set', { timeout: 300_000 }, async () => {
  const [program, ...args] = await findCompose();
  const result = await run(program, [...args, '-f', 'docker-compose.yml', 'config', '-q'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  });
  expect(result).toEqual({ ok: true, output: '' });
});

test('each role runs its own entry with valid settings, and all share one set of keys', async () => {
  const { services, volumes } = await readFileParsed();
  for (const role of ['api', 'worker', 'browser']) {
    const service = services[role];
    expect(service?.command).toEqual([role]);
    expect(await readFile('start/cli.ts', 'utf8')).toContain(`./roles/${role}.ts`);
    // What compose fills in when no variable is set: the default after `:-`.
    const entries = Object.entries(service?.environment ?? {});
    const env = Object.fromEntries(entries.map(([name, value]) => [name, value.replace(/\$\{\w+:-(.*?)\}/g, '$1')]));
    const settings = parseSettings(env);
    expect(settings.externalTemporal?.connectionOptions.address).toBe('temporal:7233');
    expect(settings.browserBaseUrl).toBe(`http://browser:${settings.ports.browser}`);
    expect(service?.volumes).toEqual(['keys:/data']);
    for (const needed of Object.keys(service?.depends_on ?? {})) expect(services).toHaveProperty(needed);
  }
  expect(Object.keys(volumes).sort()).toEqual(['keys', 'postgres-18']);
});
