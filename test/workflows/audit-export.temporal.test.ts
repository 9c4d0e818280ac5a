import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createExportDelivery } from '../../activities/audit-export/delivery.ts';
import { createAuditExportActivities } from '../../activities/audit-export/export-activities.ts';
import { createAuditExportsClient, type AuditExportsClient } from '../../client/delivery-clients.ts';
import { EXPORT_HOLD_MS, EXPORT_WINDOW_MS } from '../../contract/audit-export.ts';
import { PUBLIC_ONLY } from '../../egress/policy.ts';
import type { ExportDestinationPatch } from '../../store/queries/audit-export-destinations.ts';
import { DEFAULT_ORGANIZATION_ID, type Store } from '../../store/store.ts';
import { linesOf, startS3StandIn, type S3StandIn } from '../audit-export/s3-stand-in.ts';
import { useStore } from '../store/databases.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** After this time, everything old enough at its start is delivered. */
const SETTLED = EXPORT_WINDOW_MS + EXPORT_HOLD_MS + MINUTE;

const context = useStore();
let now = Date.now();
let store: Store;
let s3: S3StandIn;
let tests: WorkflowTests;
let exports: AuditExportsClient;
/** Called once between the upload of an object and its record, where a crash could occur. */
let breakAfterPut: (() => void) | null = null;

beforeAll(async () => {
  store = context().open({ clock: () => new Date(now) });
  s3 = await startS3StandIn(() => tests.env.currentTimeMs());
  const destinations = store.auditExportDestinations;
  const activities = createAuditExportActivities(
    {
      auditExport: store.auditExport,
      auditExportDestinations: {
        ...destinations,
        advance: async (...progress) => {
          const kill = breakAfterPut;
          breakAfterPut = null;
          kill?.();
          await destinations.advance(...progress);
        },
      },
    },
    createExportDelivery(s3.settings, PUBLIC_ONLY),
  );
  tests = await startWorkflowTests('time-skipping', {}, undefined, undefined, activities);
  exports = createAuditExportsClient({ temporal: tests.env.client, taskQueue: 'test' });
});
afterAll(async () => {
  await tests.close();
  await s3.close();
});
beforeEach(async () => {
  s3.puts.splice(0);
  // Well within an hour, so that the result does not depend on the time of day.
  now = await tests.env.currentTimeMs();
  await sleep(Math.ceil((now + MINUTE) / HOUR) * HOUR + 2 * MINUTE - now);
});

async function sleep(milliseconds: number): Promise<void> {
  await tests.env.sleep(milliseconds);
  now = await tests.env.currentTimeMs();
}

/** Audit log rows with these paths, received now or this many milliseconds from now. */
async function happen(paths: string[], later = 0): Promise<void> {
  await store.auditLog.append(
    paths.map((path, index) => ({
      organizationId: DEFAULT_ORGANIZATION_ID,
      projectId: null,
      entry: {
        timestamp: new Date(now + later + index).toISOString(),
        auth_strategy: 'api_key',
        user_id: 'usr_1',
        email: 'ann@example.com',
        status: 200,
        method: 'GET',
        path,
        route: path,
        domain: 'localhost',
        duration_ms: 1,
        client_ip: '203.0.113.9',
        user_agent: 'test',
      },
    })),
  );
}

/** A destination that receives deliveries until `remove`. */
async function activate() {
  const { id } = await store.auditExportDestinations.create(DEFAULT_ORGANIZATION_ID, {
    region: 'eu-central-1',
    bucket: 'audit',
    prefix: 'logs',
    role_arn: 'arn:aws:iam::999988887777:role/deliver',
    kms_key_id: null,
  });
  await exports.wake(id);
  return {
    id,
    row: () => store.auditExportDestinations.byIdUnscoped(id),
    patch: async (patch: ExportDestinationPatch) => {
      now = await tests.env.currentTimeMs();
      await store.auditExportDestinations.patch(DEFAULT_ORGANIZATION_ID, id, patch);
      await exports.wake(id);
    },
    remove: async () => {
      await store.auditExportDestinations.remove(DEFAULT_ORGANIZATION_ID, id);
      await exports.wake(id);
      await tests.env.client.workflow.getHandle(`audit-export-${id}`).result();
    },
  };
}

const paths = () => s3.puts.flatMap(({ body }) => linesOf(body).map(({ path }) => path));

it('starts at activation, holds each window for ten minutes, and puts each hour in separate objects', async () => {
  await happen(['/before'], -1);
  const destination = await activate();
  await happen(['/first', '/second']);
  await happen(['/late in the hour'], 56 * MINUTE);
  await happen(['/next hour'], 59 * MINUTE);
  await sleep(EXPORT_HOLD_MS);
  expect(s3.puts).toEqual([]);
  await sleep(80 * MINUTE);

  expect(paths()).toEqual(['/first', '/second', '/late in the hour', '/next hour']);
  for (const { key, body, at } of s3.puts) {
    const [, date, hour, day, time] =
      /^logs\/destination_id=aed_\w+\/org_id=org_default\/date=([\d-]{10})\/hour=(\d\d)\/(\d{8})T(\d{4})Z-aud_\w+\.jsonl\.gz$/.exec(
        key,
      ) ?? [];
    const window = Date.parse(`${date ?? ''}T${time?.slice(0, 2) ?? ''}:${time?.slice(2) ?? ''}:00Z`);
    expect([day, time?.slice(0, 2)]).toEqual([date?.replaceAll('-', ''), hour]);
    expect(at).toBeGreaterThanOrEqual(window + EXPORT_WINDOW_MS + EXPORT_HOLD_MS);
    for (const { timestamp } of linesOf(body)) {
      expect(timestamp.slice(0, 13)).toBe(`${date ?? ''}T${hour ?? ''}`);
      expect(Math.floor((Date.parse(timestamp) - window) / EXPORT_WINDOW_MS)).toBe(0);
    }
  }
  expect(new Set(s3.puts.map(({ key }) => key)).size).toBe(3);
  const row = await destination.row();
  expect(row?.nextAttemptAt?.getTime()).toBeGreaterThan(now);
  expect([row?.lastError, row?.consecutiveFailures, row?.lastExportedCursor === null]).toEqual([null, 0, false]);
  await destination.remove();
});

it('exports rows written up to ten minutes after their window, and nothing from while it is paused', async () => {
  const destination = await activate();
  await sleep(EXPORT_WINDOW_MS + 7 * MINUTE);
  await happen(['/slow'], -11 * MINUTE);
  await sleep(SETTLED);
  expect(paths()).toEqual(['/slow']);

  await happen(['/held when paused']);
  await destination.patch({ status: 'paused' });
  await happen(['/while paused']);
  await tests.env.client.workflow.getHandle(`audit-export-${destination.id}`).result();
  await sleep(SETTLED);
  await destination.patch({ status: 'active' });
  await happen(['/resumed']);
  await sleep(SETTLED);
  expect(paths()).toEqual(['/slow', '/resumed']);
  await destination.remove();
});

it('retries with ever longer pauses, reports the reason, and retries at once when it is changed', async () => {
  const destination = await activate();
  await happen(['/stubborn']);
  const denied = { status: 403, code: 'AccessDenied' };
  s3.refuse.put.push(...Array.from({ length: 8 }, () => denied));
  await sleep(5 * HOUR);
  const pauses = s3.puts.map(({ at }, index) => Math.round((at - (s3.puts[index - 1]?.at ?? at)) / MINUTE));
  expect(pauses.slice(1)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  expect(new Set(s3.puts.map(({ key }) => key)).size).toBe(1);
  expect(await destination.row()).toMatchObject({
    consecutiveFailures: 0,
    lastError: expect.stringMatching(/^put_object_failed: The object could not be put: access is denied/) as string,
  });

  await happen(['/again']);
  s3.refuse.assume.push(denied);
  await sleep(SETTLED - EXPORT_WINDOW_MS);
  while ((await destination.row())?.consecutiveFailures !== 1) await sleep(10_000);
  const failed = await destination.row();
  expect(failed?.lastError).toMatch(/^assume_role_failed: /);
  expect(failed?.nextAttemptAt?.getTime()).toBe((failed?.lastErrorAt?.getTime() ?? 0) + MINUTE);
  await destination.patch({ prefix: 'elsewhere' });
  const changedAt = now;
  while (s3.puts.at(-1)?.key.split('/')[0] !== 'elsewhere') await sleep(1000);
  expect((s3.puts.at(-1)?.at ?? 0) - changedAt).toBeLessThan(MINUTE);
  await destination.remove();
});

it('keeps its history short', async () => {
  const destination = await activate();
  await sleep(10 * HOUR);
  const { historyLength } = await tests.env.client.workflow.getHandle(`audit-export-${destination.id}`).describe();
  expect(historyLength).toBeLessThan(320);
  await destination.remove();
});

it('writes the same object again if its worker is lost before recording it', async () => {
  const destination = await activate();
  await happen(['/one', '/two']);
  breakAfterPut = () => {
    throw new Error('as if killed');
  };
  await sleep(SETTLED);
  await expect.poll(() => s3.puts.length).toBe(2);
  const [first, again] = s3.puts;
  expect([again?.key, again?.body]).toEqual([first?.key, first?.body]);
  expect(linesOf(again?.body ?? Buffer.alloc(0)).map(({ path }) => path)).toEqual(['/one', '/two']);
  expect((await destination.row())?.consecutiveFailures).toBe(0);
  await destination.remove();
});

// Last, because this server no longer skips time once an activity was aborted.
it('writes the object again if its worker is lost during the upload', async () => {
  now -= HOUR;
  await happen(['/one', '/two'], 1);
  s3.refuse.put.push('silence');
  const destination = await activate();
  await expect.poll(() => s3.puts.length).toBe(1);
  await tests.takeOver(async () => undefined);
  // The server detects the lost worker by a missing heartbeat, in real seconds here.
  const noted = async () => (await destination.row())?.lastSuccessAt ?? null;
  await expect.poll(noted, { timeout: 3 * MINUTE }).not.toBeNull();
  expect(s3.puts).toHaveLength(2);
  const [first, again] = s3.puts;
  expect([again?.key, again?.body]).toEqual([first?.key, first?.body]);
  expect((await destination.row())?.consecutiveFailures).toBe(0);
});
