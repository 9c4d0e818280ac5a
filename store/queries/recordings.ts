import type { Db } from '../database.ts';
import { affectsRow, findOne, ownerColumns, type ProjectScope } from '../scope.ts';
import { seal, sealedBy, unseal, type SealedPlace } from '../vault/seal.ts';
import type { Vault } from '../vault/vault.ts';

/** A video of a session, without its content. */
export interface RecordingRecord {
  id: string;
  sessionId: string;
  /** Size of the video, in bytes. */
  bytes: number;
  startedAt: Date;
  finishedAt: Date;
}

/** Videos, sealed in parts. They are deleted after a time, or with their connection. */
export interface RecordingQueries {
  /**
   * Stores a video, unless its connection was removed. Idempotent: an existing video with that id stays as it is.
   */
  keep(
    scope: ProjectScope,
    recording: {
      id: string;
      connectionId: string;
      sessionId: string;
      startedAt: Date;
      finishedAt: Date;
      video: Buffer;
    },
  ): Promise<void>;
  /** Null if the session has no such video. */
  find(projectId: string, sessionId: string, id: string): Promise<RecordingRecord | null>;
  /** Oldest first. */
  list(projectId: string, sessionId: string): Promise<RecordingRecord[]>;
  /** The video, part by part; ends early if it expires meanwhile. */
  read(id: string): AsyncGenerator<Buffer>;
}

/** Default retention of a video, in milliseconds. */
const DEFAULT_RETENTION_MS = 7 * 24 * 60 * 60_000;
/** Bytes that are sealed, stored and opened at a time. */
const PART_BYTES = 1024 * 1024;
const COLUMNS = [
  'id',
  'session_id as sessionId',
  'bytes',
  'started_at as startedAt',
  'finished_at as finishedAt',
] as const;

function partPlace(id: string): SealedPlace {
  return { table: 'recording_parts', column: 'sealed_part', rowId: id };
}

/** Queries of recordings. */
export function createRecordingQueries(
  db: Db,
  vault: Vault,
  clock: () => Date,
  retentionMs = DEFAULT_RETENTION_MS,
): RecordingQueries {
  const ofSession = (projectId: string, sessionId: string) =>
    db
      .selectFrom('recordings')
      .select(COLUMNS)
      .where('project_id', '=', projectId)
      .where('session_id', '=', sessionId)
      .where('expires_at', '>', clock());

  return {
    keep: (scope, { id, connectionId, sessionId, startedAt, finishedAt, video }) =>
      db.transaction().execute(async (trx) => {
        const connection = await trx
          .selectFrom('connections')
          .select('id')
          .where('id', '=', connectionId)
          .where('deleted_at', 'is', null)
          .forUpdate()
          .executeTakeFirst();
        if (connection === undefined) return;
        const isNew = await affectsRow(
          trx
            .insertInto('recordings')
            .values({
              id,
              ...ownerColumns(scope),
              connection_id: connectionId,
              session_id: sessionId,
              bytes: video.length,
              started_at: startedAt,
              finished_at: finishedAt,
              expires_at: new Date(clock().getTime() + retentionMs),
            })
            .onConflict((conflict) => conflict.column('id').doNothing()),
        );
        if (!isNew) return;
        const key = await vault.activeKey(trx, scope.organizationId);
        for (let number = 0; number * PART_BYTES < video.length; number += 1) {
          const partId = `${id}/${number}`;
          const part = video.subarray(number * PART_BYTES, (number + 1) * PART_BYTES);
          await trx
            .insertInto('recording_parts')
            .values({
              id: partId,
              organization_id: scope.organizationId,
              recording_id: id,
              number,
              sealed_part: seal(key, partPlace(partId), part),
            })
            .execute();
        }
      }),
    find: (projectId, sessionId, id) => findOne(ofSession(projectId, sessionId).where('id', '=', id), (row) => row),
    list: (projectId, sessionId) => ofSession(projectId, sessionId).orderBy('started_at').orderBy('id').execute(),
    read: async function* (id) {
      for (let number = 0; ; number += 1) {
        const row = await db
          .selectFrom('recording_parts')
          .select(['id', 'organization_id', 'sealed_part'])
          .where('recording_id', '=', id)
          .where('number', '=', number)
          .executeTakeFirst();
        if (row === undefined) return;
        const key = await vault.keyById(db, row.organization_id, sealedBy(row.sealed_part));
        yield unseal(key, partPlace(row.id), row.sealed_part);
      }
    },
  };
}
