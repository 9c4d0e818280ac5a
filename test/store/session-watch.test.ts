import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, it } from 'vitest';
import { createSessionWatch } from '../../activities/login/checks/quick-check.ts';
import { createRecordActivities } from '../../activities/records/record-activities.ts';
import type { CheckMethod } from '../../contract/connections.ts';
import { checkNumberAt, nextCheckAtMs } from '../../contract/check-times.ts';
import { addConnection, documentOf, SCOPE, useStore } from './databases.ts';

const CHECK: CheckMethod = { method: 'request', status: 200, address: 'https://a.example/desk', decided_by: 'content' };
const PLACE = { slot: 1, intervalSeconds: 3600 };
const context = useStore();

it('leaves the row, states and timeline of each check of a watch', async () => {
  const { store } = context();
  const id = await addConnection(store);
  const records = createRecordActivities(store);
  const document = documentOf(id, (await records.readRecorded({ connectionId: id }))?.revision ?? 0);
  const watchSession = createSessionWatch({
    ask: () => Promise.resolve(CHECK),
    readCredential: () => Promise.resolve(null),
    record: (state) => records.recordConnection(state),
    readRevision: async () => (await records.readRecorded({ connectionId: id }))?.revision ?? null,
  });
  const firstMs = nextCheckAtMs(Date.parse('2026-01-01T00:00:00Z'), PLACE);
  const firstNumber = checkNumberAt(firstMs, PLACE);
  const target = { connectionId: id, organizationId: SCOPE.organizationId, projectId: SCOPE.projectId };
  const input = { credential: null, document, place: PLACE, firstNumber, watchId: `watch-of-${id}` };
  const rest = { domain: 'a.example', profileName: 'ann', loginUrl: null, postLoginUrl: null, allowedDomains: [] };
  const times = [firstMs, firstMs + 3_600_000, firstMs + 3_605_000, firstMs + 7_200_000];
  for (const dueMs of times) {
    const environment = new MockActivityEnvironment({ currentAttemptScheduledTimestampMs: dueMs });
    const whole = { ...input, target: { ...target, ...rest, browser: null, credentialName: null } };
    await expect(environment.run(watchSession, whole)).rejects.toMatchObject({ type: 'still_signed_in' });
  }
  const lastCheckAt = new Date(firstMs + 7_200_000).toISOString();
  const revision = document.revision + 3;
  expect(await records.readRecorded({ connectionId: id })).toEqual({ revision, lastCheckAt });
  const states = await store.connections.statesSince(id, document.revision);
  expect(states.map((state) => state.document.revision)).toEqual([revision - 2, revision - 1, revision]);
  const { rows } = await store.timeline.list(SCOPE, id, { limit: 10, offset: 0 });
  expect(rows.map(({ timestamp }) => timestamp)).toEqual(
    [7_200_000, 3_600_000, 0].map((after) => new Date(firstMs + after).toISOString()),
  );
});
