import { CreateBucketCommand, GetObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createExportDelivery, testDelivery } from '../../activities/audit-export/delivery.ts';
import { createAuditExportActivities } from '../../activities/audit-export/export-activities.ts';
import { createAuditExportsClient } from '../../client/delivery-clients.ts';
import { PUBLIC_ONLY } from '../../egress/policy.ts';
import { DEFAULT_ORGANIZATION_ID, type Store } from '../../store/store.ts';
import { startMinio, type Minio } from '../setup/minio.ts';
import { useStore } from '../store/databases.ts';
import { startWorkflowTests, type WorkflowTests } from '../workflows/environment.ts';
import { linesOf } from './s3-stand-in.ts';

/** How long MinIO's server may take to be built, where there is none yet, and to start, in milliseconds. */
const BUILD_MS = 3_600_000;
const ROWS = 100_000;
const ROWS_A_WRITE = 500;
const MINUTE = 60_000;
/** By then all that is waited for is delivered, however often it was tried, in skipped time. */
const LAST_MS = 48 * 60 * MINUTE;
/** More memory than what four objects and their rows may take, in bytes. */
const MEMORY_BOUND = 200 * 1024 * 1024;

const context = useStore();
let minio: Minio;
let s3: S3Client;
let tests: WorkflowTests;
let store: Store;
let now = 0;
const settings = () => ({
  s3Endpoint: minio.endpoint,
  stsEndpoint: minio.endpoint,
  credentials: minio.credentials,
});

beforeAll(async () => {
  minio = await startMinio();
  s3 = new S3Client({
    endpoint: minio.endpoint,
    region: 'us-east-1',
    credentials: minio.credentials,
    forcePathStyle: true,
  });
  await s3.send(new CreateBucketCommand({ Bucket: 'audit' }));
  store = context().open({ clock: () => new Date(now) });
  const activities = createAuditExportActivities(store, createExportDelivery(settings(), PUBLIC_ONLY));
  tests = await startWorkflowTests('time-skipping', {}, undefined, undefined, activities);
  now = await tests.env.currentTimeMs();
}, BUILD_MS);
afterAll(async () => {
  await tests.close();
  s3.destroy();
  await minio.stop();
});

function create(bucket: string) {
  return store.auditExportDestinations.create(DEFAULT_ORGANIZATION_ID, {
    region: 'us-east-1',
    bucket,
    prefix: 'soak',
    role_arn: 'arn:aws:iam::999988887777:role/deliver',
    kms_key_id: null,
  });
}

it('reports what is wrong with a destination on a real server', async () => {
  const delivery = createExportDelivery(settings(), PUBLIC_ONLY);
  const [good, absent] = [await create('audit'), await create('absent')];
  expect(await testDelivery(delivery, good)).toEqual({ success: true, stage: 'complete' });
  expect(await testDelivery(delivery, absent)).toMatchObject({
    stage: 'put_object',
    error: { message: 'The object could not be put: the bucket does not exist' },
  });
  const wrong = { ...settings(), credentials: { ...minio.credentials, secretAccessKey: 'another-secret' } };
  expect(await testDelivery(createExportDelivery(wrong, PUBLIC_ONLY), good)).toMatchObject({
    success: false,
    stage: 'assume_role',
  });
  for (const { id } of [good, absent]) await store.auditExportDestinations.remove(DEFAULT_ORGANIZATION_ID, id);
});

it(`delivers ${String(ROWS)} rows through kills of the store, each at least once, in bounded memory`, async ({
  annotate,
}) => {
  const destination = await create('audit');
  for (let from = 0; from < ROWS; from += ROWS_A_WRITE)
    await store.auditLog.append(
      Array.from({ length: ROWS_A_WRITE }, (_, index) => ({
        organizationId: DEFAULT_ORGANIZATION_ID,
        projectId: null,
        entry: {
          // Two hours of them, half of them in one window.
          timestamp: new Date(now + (index % 2 === 0 ? 1 : ((from + index) / ROWS) * 120 * MINUTE)).toISOString(),
          auth_strategy: 'api_key',
          user_id: 'usr_1',
          email: 'ann@example.com',
          status: 200,
          method: 'GET',
          path: `/rows/${String(from + index)}`,
          route: '/rows/:id',
          domain: 'localhost',
          duration_ms: 1,
          client_ip: '203.0.113.9',
          user_agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)',
        },
      })),
    );
  await createAuditExportsClient({ temporal: tests.env.client, taskQueue: 'test' }).wake(destination.id);

  const end = (await tests.env.currentTimeMs()) + LAST_MS;
  const isDone = async () =>
    ((await store.auditExportDestinations.byIdUnscoped(destination.id))?.position.at.getTime() ?? 0) >
    now + 120 * MINUTE;
  const before = process.memoryUsage().rss;
  let highest = before;
  let kills = 0;
  const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 20);
  while (!(await isDone()) && (await tests.env.currentTimeMs()) < end) {
    await tests.env.sleep(10 * MINUTE);
    if (kills === 3) continue;
    kills += 1;
    await minio.kill();
    await tests.env.sleep(10 * MINUTE);
    await minio.start();
  }
  clearInterval(watch);
  expect(await isDone()).toBe(true);

  const seen = new Map<string, string>();
  let [lines, objects] = [0, 0];
  for await (const page of paginateListObjectsV2({ client: s3 }, { Bucket: 'audit', Prefix: 'soak/destination_id=' }))
    for (const { Key: key = '' } of page.Contents ?? []) {
      if (!key.endsWith('.jsonl.gz')) continue;
      const { Body: body } = await s3.send(new GetObjectCommand({ Bucket: 'audit', Key: key }));
      const hour = /date=([\d-]+)\/hour=(\d\d)\//.exec(key);
      for (const line of linesOf(Buffer.from((await body?.transformToByteArray()) ?? []))) {
        expect(line.timestamp.slice(0, 13)).toBe(`${hour?.[1] ?? ''}T${hour?.[2] ?? ''}`);
        seen.set(line.event_id, line.path);
        lines += 1;
      }
      objects += 1;
    }
  expect(new Set(seen.values()).size).toBe(ROWS);
  expect(highest - before).toBeLessThan(MEMORY_BOUND);
  const failures = (await store.auditExportDestinations.byIdUnscoped(destination.id))?.lastError ?? 'none';
  const grownMb = Math.round((highest - before) / 1024 / 1024);
  await annotate(JSON.stringify({ objects, lines, kills, failures, grownMb }));
});
