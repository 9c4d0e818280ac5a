import type { Db } from '../database.ts';
import type { ProjectScope } from '../scope.ts';
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

/** Videos, sealed in parts. They show what a person saw, and go after a time, or with their connection. */
export interface RecordingQueries {
  /**
   * Keeps a video, unless its connection is gone. One of that id that is kept already stays as it is: the call may be
   * repeated.
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
  /** Null when the project has none such of that session. */
  find(projectId: string, sessionId: string, id: string): Promise<RecordingRecord | null>;
  /** Oldest first. */
  list(projectId: string, sessionId: string): Promise<RecordingRecord[]>;
  /** The video, part by part; ends early when it expires meanwhile. */
  read(id: string): AsyncGenerator<Buffer>;
}

/** How long a video is kept where nothing else is said, in milliseconds. */
const DEFAULT_KEPT_MS = 7 * 24 * 60 * 60_000;
/** Bytes that are sealed, sent to the database and opened at once. */
const PART_BYTES = 1024 * 1024;
const SHOWN = ['id', 'session_id', 'bytes', 'started_at', 'finished_at'] as const;

/** Where a part of a video lives. */
export function recordingPartPlace(id: string): SealedPlace {
  return { table: 'recording_parts', column: 'sealed_part', rowId: id };
}

/** Queries of recordings. */
export function createRecordingQueries(
  db: Db,
  vault: Vault,
  clock: () => Date,
  keptMs = DEFAULT_KEPT_MS,
): RecordingQueries {
  const ofSession = (projectId: string, sessionId: string) =>
    db
      .selectFrom('recordings')
      .select(SHOWN)
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
        const made = await trx
          .insertInto('recordings')
          .values({
            id,
            organization_id: scope.organizationId,
            project_id: scope.projectId,
            connection_id: connectionId,
            session_id: sessionId,
            bytes: video.length,
            started_at: startedAt,
            finished_at: finishedAt,
            expires_at: new Date(clock().getTime() + keptMs),
          })
          .onConflict((conflict) => conflict.column('id').doNothing())
          .returning('id')
          .executeTakeFirst();
        if (made === undefined) return;
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
              sealed_part: seal(key, recordingPartPlace(partId), part),
            })
            .execute();
        }
      }),
    find: async (projectId, sessionId, id) => {
      const row = await ofSession(projectId, sessionId).where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : present(row);
    },
    list: async (projectId, sessionId) =>
      (await ofSession(projectId, sessionId).orderBy('started_at').orderBy('id').execute()).map(present),
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
        yield unseal(key, recordingPartPlace(row.id), row.sealed_part);
      }
    },
  };
}

function present(row: {
  id: string;
  session_id: string;
  bytes: number;
  started_at: Date;
  finished_at: Date;
}): RecordingRecord {
  return {
    id: row.id,
    sessionId: row.session_id,
    bytes: row.bytes,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}
