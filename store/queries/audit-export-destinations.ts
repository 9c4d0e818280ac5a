import { randomUUID } from 'node:crypto';
import { sql, type Selectable } from 'kysely';
import type { AuditExportDestination } from '../../contract/audit-export.ts';
import { newId } from '../../contract/ids.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { affectsRow, findOne, readIds, readNewest, type Page, type PageRequest } from '../scope.ts';
import { writeExportCursor, type AuditPosition } from './audit-export.ts';

/** Where objects are written, and with which role. */
export interface ExportTarget {
  id: string;
  organizationId: string;
  region: string;
  bucket: string;
  prefix: string;
  roleArn: string;
  externalId: string;
  kmsKeyId: string | null;
}

/** A destination, and the progress of its delivery. */
export interface ExportDestinationRecord extends ExportTarget {
  status: AuditExportDestination['status'];
  activation: number;
  position: AuditPosition;
  lastExportedCursor: string | null;
  consecutiveFailures: number;
  lastError: string | null;
  lastErrorAt: Date | null;
  lastSuccessAt: Date | null;
  nextAttemptAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Settings of a destination, named as in the API. */
interface ExportDestinationSettings {
  region: string;
  bucket: string;
  prefix: string;
  role_arn: string;
  kms_key_id: string | null;
}

/** Changes to a destination; omitted fields stay as they are. */
export type ExportDestinationPatch = Partial<ExportDestinationSettings> & {
  status?: AuditExportDestination['status'];
};

/** One activation of a destination: deliveries of an earlier activation change nothing. */
type ExportActivation = Pick<ExportDestinationRecord, 'id' | 'activation'>;

/** Export destinations of an organization, and the progress of their deliveries. */
export interface AuditExportDestinationQueries {
  /** Delivery starts with events from now on. */
  create(organizationId: string, settings: ExportDestinationSettings): Promise<ExportDestinationRecord>;
  find(organizationId: string, id: string): Promise<ExportDestinationRecord | null>;
  /** Newest first. */
  list(organizationId: string, page: PageRequest): Promise<Page<ExportDestinationRecord>>;
  /** Null if there is none. A paused destination that becomes active restarts from now on. */
  patch(organizationId: string, id: string, patch: ExportDestinationPatch): Promise<ExportDestinationRecord | null>;
  /** False if there was none. */
  remove(organizationId: string, id: string): Promise<boolean>;
  /** For the activities of its own workflow: no organization is checked. */
  byIdUnscoped(id: string): Promise<ExportDestinationRecord | null>;
  /** Ids of active destinations of all organizations after `id`, in order. */
  activeIdsAfter(id: string | null, limit: number): Promise<string[]>;
  /** Records that everything up to a position is delivered, with an object uploaded at `uploadedAt`. Forward only. */
  advance(activation: ExportActivation, to: AuditPosition, uploadedAt: Date | null): Promise<void>;
  /** Records a failure and the time of the next attempt. `error` is our own message. */
  fail(activation: ExportActivation, failure: { error: string; at: Date; nextAttemptAt: Date }): Promise<void>;
  /** Records when the next window is exported. */
  scheduleNext(activation: ExportActivation, nextAttemptAt: Date): Promise<void>;
}

/** Queries of export destinations. */
export function createAuditExportDestinationQueries(db: Db, clock: () => Date): AuditExportDestinationQueries {
  const table = 'audit_export_destinations';
  const inOrganization = (organizationId: string) =>
    db.selectFrom(table).selectAll().where('organization_id', '=', organizationId);
  const updateActive = ({ id, activation }: ExportActivation) =>
    db.updateTable(table).where('id', '=', id).where('activation', '=', activation).where('status', '=', 'active');
  /** The start of delivery: earlier events are not exported. */
  const startingNow = () => ({ exported_at: clock(), exported_seq: 0, consecutive_failures: 0, next_attempt_at: null });

  return {
    create: async (organizationId, settings) =>
      present(
        await db
          .insertInto(table)
          .values({
            id: newId('aed'),
            organization_id: organizationId,
            external_id: randomUUID(),
            ...settings,
            status: 'active',
            activation: 1,
            ...startingNow(),
            created_at: clock(),
            updated_at: clock(),
          })
          .returningAll()
          .executeTakeFirstOrThrow(),
      ),
    find: (organizationId, id) => findOne(inOrganization(organizationId).where('id', '=', id), present),
    list: (organizationId, page) => readNewest(inOrganization(organizationId), page, present),
    patch: (organizationId, id, { status, ...settings }) =>
      db.transaction().execute(async (trx) => {
        const current = await trx
          .selectFrom(table)
          .select(['status', 'activation'])
          .where('organization_id', '=', organizationId)
          .where('id', '=', id)
          .forUpdate()
          .executeTakeFirst();
        if (current === undefined) return null;
        const resumes = status === 'active' && current.status === 'paused';
        const row = await trx
          .updateTable(table)
          .where('id', '=', id)
          .set({
            ...settings,
            ...(status === undefined ? {} : { status }),
            ...(resumes ? { ...startingNow(), activation: current.activation + 1 } : {}),
            // The cause of a failure may be fixed, so retry at once.
            next_attempt_at: null,
            updated_at: clock(),
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        return present(row);
      }),
    remove: (organizationId, id) =>
      affectsRow(db.deleteFrom(table).where('organization_id', '=', organizationId).where('id', '=', id)),
    byIdUnscoped: (id) => findOne(db.selectFrom(table).selectAll().where('id', '=', id), present),
    activeIdsAfter: (id, limit) =>
      readIds(
        db
          .selectFrom(table)
          .select('id')
          .where('status', '=', 'active')
          .where('id', '>', id ?? '')
          .orderBy('id')
          .limit(limit),
      ),
    advance: async (activation, to, uploadedAt) => {
      await updateActive(activation)
        .where(sql<boolean>`(exported_at, exported_seq) < (${to.at}::timestamptz, ${to.seq}::bigint)`)
        .set({
          exported_at: to.at,
          exported_seq: to.seq,
          last_exported_cursor: writeExportCursor(to),
          next_attempt_at: null,
          ...(uploadedAt === null ? {} : { last_success_at: uploadedAt, consecutive_failures: 0 }),
        })
        .execute();
    },
    fail: async (activation, { error, at, nextAttemptAt }) => {
      await updateActive(activation)
        .set((eb) => ({
          consecutive_failures: eb('consecutive_failures', '+', 1),
          last_error: error,
          last_error_at: at,
          next_attempt_at: nextAttemptAt,
        }))
        .execute();
    },
    scheduleNext: async (activation, nextAttemptAt) => {
      await updateActive(activation).set({ next_attempt_at: nextAttemptAt }).execute();
    },
  };
}

function present(row: Selectable<Database['audit_export_destinations']>): ExportDestinationRecord {
  return {
    id: row.id,
    organizationId: row.organization_id,
    region: row.region,
    bucket: row.bucket,
    prefix: row.prefix,
    roleArn: row.role_arn,
    externalId: row.external_id,
    kmsKeyId: row.kms_key_id,
    status: row.status,
    activation: row.activation,
    position: { at: row.exported_at, seq: row.exported_seq },
    lastExportedCursor: row.last_exported_cursor,
    consecutiveFailures: row.consecutive_failures,
    lastError: row.last_error,
    lastErrorAt: row.last_error_at,
    lastSuccessAt: row.last_success_at,
    nextAttemptAt: row.next_attempt_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
