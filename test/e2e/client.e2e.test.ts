import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConnectionDocument } from '../../contract/document.ts';
import { DEFAULT_ORGANIZATION_ID, DEFAULT_PROJECT_ID } from '../../store/store.ts';
import { startInstallation, type Installation } from './installation.ts';

const root = join(import.meta.dirname, '../..');
const EXAMPLE = 'docs/examples/log-in.ts';

let on: Installation;
beforeAll(async () => {
  on = await startInstallation();
});
afterAll(() => on.close());

describe('the example of docs/client.md', () => {
  test('matches the example file, which logs in with an update and a signal', async () => {
    expect(readFileSync(join(root, 'docs/client.md'), 'utf8')).toContain(EXAMPLE.replace('docs/', ''));
    const { practice } = on;
    const bob = practice.user('bob');
    const run = await runExample(
      ['at the terminal', practice.domain, practice.page('/login/two-step')],
      [bob.email, bob.password],
    );
    expect(run.errors).not.toContain('Error');
    const id = /^connection created: (conn_\w+)$/m.exec(run.output)?.[1] ?? '';
    expect(run.output.split('\n').filter((line, index, all) => line !== '' && line !== all[index - 1])).toEqual([
      `connection created: ${id}`,
      'IN_PROGRESS DISCOVERING',
      'IN_PROGRESS AWAITING_INPUT',
      'IN_PROGRESS SUBMITTING',
      'IN_PROGRESS AWAITING_INPUT',
      'IN_PROGRESS SUBMITTING',
      'SUCCESS COMPLETED',
      `AUTHENTICATED ${practice.page('/account')}`,
    ]);
    expect(run.code).toBe(0);
    // Both clients see the same connection.
    expect(await on.kernel.auth.connections.retrieve(id)).toMatchObject({ status: 'AUTHENTICATED', can_reauth: true });

    const again = await runExample(['at the terminal', practice.domain], []);
    expect(again.output).toContain(`connection exists: ${id}`);
    expect(again.output).not.toContain('AWAITING_INPUT');
    expect(again.code).toBe(0);
  });
});

describe('the client for Temporal', () => {
  test("gets the API's error codes and deletes a connection", async () => {
    const { connections, practice, store } = on;
    const { document } = await connections.create({
      organizationId: DEFAULT_ORGANIZATION_ID,
      projectId: DEFAULT_PROJECT_ID,
      settings: {
        profile_name: 'by temporal',
        domain: practice.domain,
        login_url: practice.page('/login'),
        auto_reauth: true,
        health_checks: true,
        health_check_interval: 3600,
        save_credentials: true,
        record_session: false,
      },
    });
    const answer = { submissionId: null, interactionId: 'int_none', fieldIds: [], selectedChoiceId: 'choice_none' };
    await expect(connections.submit(document.id, answer)).rejects.toMatchObject({ code: 'not_awaiting_input' });
    await connections.login(document.id, { loginId: 'once' });
    // A repeated request joins the flow; a different one is rejected.
    const { document: same } = await connections.login(document.id, { loginId: 'once' });
    await expect(connections.login(document.id)).rejects.toMatchObject({ code: 'flow_in_progress' });

    let paused: ConnectionDocument | null = null;
    for await (const state of connections.follow(document.id)) {
      if (state.flow?.interaction === null) continue;
      paused = state;
      break;
    }
    expect(paused?.flow?.flow_id).toBe(same.flow?.flow_id);
    await expect(connections.submit(document.id, answer)).rejects.toMatchObject({ code: 'stale_interaction' });
    // A rejected signal has no effect; the interaction stays pending.
    await connections.submitBySignal(document.id, answer);
    expect((await connections.read(document.id)).flow).toMatchObject({ flow_step: 'AWAITING_INPUT' });

    const changed = await connections.configure(document.id, { auto_reauth: false });
    expect(changed.document.settings.auto_reauth).toBe(false);
    await connections.remove(document.id);
    await expect(connections.read(document.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await store.connections.byIdUnscoped(document.id)).toBeNull();
  });
});

/** Runs the example with `typed` as its input lines. */
async function runExample(
  args: string[],
  typed: string[],
): Promise<{ code: number | null; output: string; errors: string }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hf-example-'));
  const child = spawn(process.execPath, ['--import', 'tsx', EXAMPLE, ...args], {
    cwd: root,
    env: {
      ...process.env,
      HOLDFAST_DATA_DIR: dataDir,
      HOLDFAST_MASTER_KEY: on.masterKey.toString('base64'),
      HOLDFAST_API_KEY: on.apiKey,
      DATABASE_URL: on.databaseUrl,
      TEMPORAL_ADDRESS: on.temporal.address,
      TEMPORAL_NAMESPACE: on.temporal.namespace,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString('utf8')));
  child.stdin.end(typed.map((line) => `${line}\n`).join(''));
  await once(child, 'close');
  rmSync(dataDir, { recursive: true, force: true });
  return { code: child.exitCode, output, errors };
}
