import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { newId } from '../../contract/ids.ts';
import { createPool, openDatabase } from '../../store/database.ts';
import { createStore } from '../../store/store.ts';
import { addConnection, MASTER_KEY, SCOPE, useStore } from './databases.ts';

/** Two whole parts and a piece. */
const VIDEO = randomBytes(2 * 1024 * 1024 + 17);
const STARTED = new Date('2026-01-01T10:00:00Z');
const FINISHED = new Date('2026-01-01T10:01:00Z');
const WEEK_MS = 7 * 24 * 60 * 60_000;

describe('recordings', () => {
  const context = useStore();

  const recordingOf = (connectionId: string, sessionId = newId('brw')) => ({
    id: newId('rep'),
    connectionId,
    sessionId,
    startedAt: STARTED,
    finishedAt: FINISHED,
    video: VIDEO,
  });

  async function contentOf(id: string, store = context().store): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of store.recordings.read(id)) parts.push(part);
    return Buffer.concat(parts);
  }

  it('are read back unchanged, only by their project and session', async () => {
    const { store } = context();
    const recording = recordingOf(await addConnection(store, { domain: 'kept.example' }));
    const { id, sessionId } = recording;
    await store.recordings.keep(SCOPE, recording);
    await store.recordings.keep(SCOPE, { ...recording, video: Buffer.from('of a second try') });
    const record = { id, sessionId, bytes: VIDEO.length, startedAt: STARTED, finishedAt: FINISHED };
    expect(await store.recordings.find(SCOPE.projectId, sessionId, id)).toEqual(record);
    expect(await store.recordings.list(SCOPE.projectId, sessionId)).toEqual([record]);
    expect((await contentOf(id)).equals(VIDEO)).toBe(true);
    const sibling = await store.projects.create(SCOPE.organizationId, { name: 'sibling' });
    expect(await store.recordings.find(sibling.id, sessionId, id)).toBeNull();
    expect(await store.recordings.list(sibling.id, sessionId)).toEqual([]);
    expect(await store.recordings.find(SCOPE.projectId, newId('brw'), id)).toBeNull();
  });

  it('are sealed, with each part bound to its place', async () => {
    const { store, database } = context();
    const recording = recordingOf(await addConnection(store, { domain: 'sealed.example' }));
    await store.recordings.keep(SCOPE, recording);
    const db = openDatabase(createPool(database.connection, 1));
    const parts = await db
      .selectFrom('recording_parts')
      .select(['number', 'sealed_part'])
      .where('recording_id', '=', recording.id)
      .execute();
    expect(parts).toHaveLength(3);
    for (const { sealed_part: sealed } of parts) expect(sealed.includes(VIDEO.subarray(0, 16))).toBe(false);
    await sql`update recording_parts set sealed_part = (select sealed_part from recording_parts
      where id = ${`${recording.id}/1`}) where id = ${`${recording.id}/0`}`.execute(db);
    await db.destroy();
    await expect(contentOf(recording.id)).rejects.toThrow('changed or moved');
  });

  it('are deleted after the configured retention', async () => {
    const { store, open } = context();
    const kept = recordingOf(await addConnection(store, { domain: 'month.example' }));
    await open({ recordingsKeptMs: 4 * WEEK_MS }).recordings.keep(SCOPE, kept);
    const at = (weeks: number) => open({ clock: () => new Date(Date.now() + weeks * WEEK_MS) });
    await at(3.9).sweep();
    expect(await contentOf(kept.id)).not.toHaveLength(0);
    await at(4.1).sweep();
    expect(await contentOf(kept.id)).toHaveLength(0);
  });

  it('are deleted after a week, and with their connection', async () => {
    const { store, database } = context();
    const connectionId = await addConnection(store, { domain: 'gone.example' });
    const [old, removed] = [recordingOf(connectionId), recordingOf(connectionId)];
    await store.recordings.keep(SCOPE, old);
    let now = Date.now();
    const clock = () => new Date(now);
    const later = createStore({ connection: database.connection, masterKey: MASTER_KEY, clock });
    now += WEEK_MS + 1000;
    expect(await later.recordings.find(SCOPE.projectId, old.sessionId, old.id)).toBeNull();
    await later.sweep();
    expect(await contentOf(old.id)).toHaveLength(0);
    await later.close();

    await store.recordings.keep(SCOPE, removed);
    expect(await store.connections.remove(SCOPE, connectionId)).toBe(true);
    expect(await contentOf(removed.id)).toHaveLength(0);
    await store.recordings.keep(SCOPE, recordingOf(connectionId, 'brw_late'));
    expect(await store.recordings.list(SCOPE.projectId, 'brw_late')).toEqual([]);
  });
});
