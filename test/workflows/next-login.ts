import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, submitAll, until, waits } from './scenarios.ts';

let tests: WorkflowTests;

const events = () => [...tests.world.timeline.values()];
const flowOf = (id: string) => tests.world.rows.get(id)?.flow;

/** Requests a login until one is accepted, as soon as callers see the previous flow's end, while its browser still closes. */
async function loginAtOnce(id: string): Promise<void> {
  for (;;) {
    const accepted = await tests.client.login(id).then(
      () => true,
      () => false,
    );
    if (accepted) return;
  }
}

/**
 * Tests logins that start while others end, of this many concurrent connections. On a full server: no time has to be skipped,
 * and the time-skipping one sometimes stops when two tasks collide.
 */
export function testNextLogins(sideBySide: number): void {
  beforeAll(async () => {
    tests = await startWorkflowTests('whole');
  });

  afterAll(async () => {
    await tests.close();
  });

  it('runs a login that is accepted while another one ends, and reports the end of both', async () => {
    const ids = await Promise.all(Array.from({ length: sideBySide }, () => tests.create({ health_checks: false })));
    await Promise.all(ids.map((id) => tests.client.login(id)));
    await Promise.all(ids.map((id) => until(tests, id, waits)));
    const first = new Map(ids.map((id) => [id, flowOf(id)?.flow_id]));
    await Promise.all(
      ids.map(async (id) => {
        await submitAll(tests, id, `sub_first_${id}`);
        await loginAtOnce(id);
      }),
    );
    await Promise.all(
      ids.map(async (id) => {
        await until(tests, id, (document) => waits(document) && document.flow?.flow_id !== first.get(id));
        await submitAll(tests, id, `sub_second_${id}`);
        await until(tests, id, ended);
      }),
    );
    expect(events().map(({ status }) => status)).toEqual(Array.from({ length: 2 * sideBySide }, () => 'SUCCESS'));
    expect(tests.world.entered).toHaveLength(2 * sideBySide);
  });
}
