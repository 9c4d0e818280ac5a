import { expect, it } from 'vitest';
import { nextObject } from '../../activities/audit-export/objects.ts';
import type { AuditEvent, AuditExportQueries, AuditPosition } from '../../store/queries/audit-export.ts';
import type { ExportDestinationRecord } from '../../store/queries/audit-export-destinations.ts';
import { linesOf } from './s3-stand-in.ts';

const START = Date.parse('2026-03-01T12:58:00.000Z');
const UNTIL = new Date('2026-03-01T14:00:00.000Z');

function event(at: number, seq: number, size = 10): AuditEvent {
  return {
    position: { at: new Date(at), seq },
    eventId: `aud_${String(seq)}`,
    entry: {
      timestamp: new Date(at).toISOString(),
      auth_strategy: 'api_key',
      user_id: 'usr_1',
      email: 'ann@example.com',
      status: 200,
      method: 'GET',
      path: `/${'x'.repeat(size)}`,
      route: '/profiles',
      domain: 'localhost',
      duration_ms: 2,
      client_ip: '203.0.113.9',
      user_agent: 'test',
    },
  };
}

/** A log of these events, as the store reads it. */
function logOf(events: AuditEvent[]): AuditExportQueries & { reads: number[] } {
  const reads: number[] = [];
  const isAfter = (one: AuditPosition, other: AuditPosition) =>
    one.at.getTime() - other.at.getTime() || one.seq - other.seq;
  const ordered = events.toSorted((a, b) => isAfter(a.position, b.position));
  return {
    reads,
    read: async (_organization, { after, before, limit }) => {
      const from = ordered.findIndex(({ position }) => isAfter(position, after) > 0);
      const rows = from === -1 ? [] : ordered.slice(from, from + limit).filter(({ position }) => position.at < before);
      reads.push(rows.length);
      return rows;
    },
  };
}

const record = (position: AuditPosition) =>
  ({
    id: 'aed_1',
    organizationId: 'org_1',
    prefix: 'p',
    region: 'r',
    bucket: 'b',
    roleArn: 'a',
    externalId: 'e',
    kmsKeyId: null,
    status: 'active',
    activation: 1,
    position,
    lastExportedCursor: null,
    consecutiveFailures: 0,
    lastError: null,
    lastErrorAt: null,
    lastSuccessAt: null,
    nextAttemptAt: null,
    createdAt: new Date(0),
    updatedAt: new Date(0),
  }) satisfies ExportDestinationRecord;

/** All objects of a log, in the order in which they are made. */
async function exportAll(log: AuditExportQueries) {
  const objects: { key: string; ids: string[]; hours: Set<string>; body: Buffer }[] = [];
  let position: AuditPosition = { at: new Date(START), seq: 0 };
  for (;;) {
    const object = await nextObject(log, record(position), UNTIL);
    if (object === null) return objects;
    const lines = linesOf(object.body);
    objects.push({
      key: object.key,
      ids: lines.map(({ event_id: id }) => id),
      hours: new Set(lines.map(({ timestamp }) => timestamp.slice(0, 13))),
      body: object.body,
    });
    position = object.to;
  }
}

it('puts rows of one window of one hour into an object named by window and first row', async () => {
  const hour = Date.parse('2026-03-01T13:00:00.000Z');
  const log = logOf([event(START, 5), event(hour - 1, 3), event(hour, 4), event(hour + 300_000, 6)]);
  const objects = await exportAll(log);
  const folder = 'p/destination_id=aed_1/org_id=org_1/date=2026-03-01';
  expect(objects.map(({ key, ids }) => [key, ids])).toEqual([
    [`${folder}/hour=12/20260301T1255Z-aud_5.jsonl.gz`, ['aud_5', 'aud_3']],
    [`${folder}/hour=13/20260301T1300Z-aud_4.jsonl.gz`, ['aud_4']],
    [`${folder}/hour=13/20260301T1305Z-aud_6.jsonl.gz`, ['aud_6']],
  ]);
  expect(linesOf(objects[0]?.body ?? Buffer.alloc(0))[0]).toEqual({ event_id: 'aud_5', ...event(START, 5).entry });
});

it('limits objects by rows and bytes, without loss or duplicates, and reproducibly', async () => {
  const small = Array.from({ length: 45_000 }, (_, n) => event(START + Math.floor(n / 1000), n + 1));
  const large = Array.from({ length: 5000 }, (_, n) => event(START + 60_000, 50_000 + n, 3500));
  const log = logOf([...small, ...large]);
  const objects = await exportAll(log);
  expect(objects.flatMap(({ ids }) => ids)).toEqual([...small, ...large].map(({ eventId }) => eventId));
  expect(objects.map(({ ids }) => ids.length).slice(0, 2)).toEqual([20_000, 20_000]);
  expect(objects.length).toBeGreaterThan(4);
  expect(new Set(objects.map(({ key }) => key)).size).toBe(objects.length);
  expect(objects.every(({ hours }) => hours.size === 1)).toBe(true);
  expect(Math.max(...log.reads)).toBe(500);
  const again = await exportAll(log);
  expect(again.map(({ key }) => key)).toEqual(objects.map(({ key }) => key));
  expect(again.every(({ body }, index) => objects[index]?.body.equals(body))).toBe(true);
});

it('does not overwrite other rows when a late one shifts the rest', async () => {
  const rows = Array.from({ length: 20_001 }, (_, n) => event(START + n, n + 2));
  const before = await exportAll(logOf(rows));
  const after = await exportAll(logOf([...rows, event(START, 1)]));
  const union = new Map([...before, ...after].map(({ key, ids }) => [key, ids]));
  expect(new Set([...union.values()].flat()).size).toBe(20_002);
});
