import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { createConnectionsClient } from '../../client/create-connections-client.ts';
import { createDataConverter } from '../../workers/data-converter/data-converter.ts';
import { freePort } from '../setup/free-port-block.ts';
import { startDevServer } from '../setup/temporal-server.ts';
import { IDENTITY_KEY, PAYLOAD_KEY, settings } from '../workflows/environment.ts';

let env: TestWorkflowEnvironment;

beforeAll(async () => {
  env = await startDevServer({ client: { dataConverter: createDataConverter(PAYLOAD_KEY) } });
});

afterAll(async () => {
  await env.teardown();
});

it('logs JSON without failure messages, and serves Prometheus metrics', async () => {
  const secret = 'hunter2-in-a-row';
  const port = await freePort();
  const script = fileURLToPath(new URL('./runtime-process.ts', import.meta.url));
  const args = [env.address, String(port), PAYLOAD_KEY.toString('hex'), secret, inject('workflowBundleFile')];
  const child = spawn(process.execPath, ['--import', 'tsx', script, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const logged = (): string[] => said.split('\n').filter((line) => line !== '');
  try {
    const client = createConnectionsClient({ temporal: env.client, identityKey: IDENTITY_KEY, timeoutMs: 200_000 });
    const { document } = await client.create({
      organizationId: 'org_default',
      projectId: 'prj_default',
      settings: settings(),
    });
    await client.configure(document.id, { auto_reauth: false });
    await expect.poll(() => logged().some((line) => line.includes('recordConnection'))).toBe(true);
    const metrics = await fetch(`http://127.0.0.1:${String(port)}/metrics`);
    expect(metrics.status).toBe(200);
    const text = await metrics.text();
    expect(text).toMatch(/^# TYPE temporal_\w+ (counter|gauge|histogram)$/m);
    expect(text).toMatch(/^temporal_local_activity_execution_failed\w*\{[^}]*activity_type="recordConnection"/m);
    const ended = once(child, 'exit');
    child.stdin.end();
    await ended;
    expect(logged().map((line): unknown => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ level: 40, activityType: 'recordConnection', error: 'ApplicationFailure' }),
    );
    for (const words of [said, text]) expect(words).not.toContain(secret);
  } finally {
    child.kill('SIGKILL');
  }
});
