import { randomUUID } from 'node:crypto';
import { sql, type Selectable } from 'kysely';
import type { AuditExportDestination } from '../../contract/audit-export.ts';
import { newId } from '../../contract/ids.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { readPage, type Page, type PageRequest } from '../scope.ts';
import { writeExportCursor, type AuditPosition } from './audit-export.ts';

/** Where objects go, and as whom. */
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

/** A destination, and how its delivery stands. */
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

/** What a caller sets of a destination, by the names of the interface. */
export interface ExportDestinationSettings {
  region: string;
  bucket: string;
  prefix: string;
  role_arn: string;
  kms_key_id: string | null;
}

/** Changes of a destination; what is left out stays. */
export type ExportDestinationPatch = Partial<ExportDestinationSettings> & {
  status?: AuditExportDestination['status'];
};

/** One time that a destination was active: a delivery of another one changes nothing any more. */
export type ExportActivation = Pick<ExportDestinationRecord, 'id' | 'activation'>;

/** Export destinations of an organization, and the progress of their deliveries. */
export interface AuditExportDestinationQueries {
  /** Delivery begins with what happens from now on. */
  create(organizationId: string, settings: ExportDestinationSettings): Promise<ExportDestinationRecord>;
  find(organizationId: string, id: string): Promise<ExportDestinationRecord | null>;
  /** Newest first. */
  list(organizationId: string, page: PageRequest): Promise<Page<ExportDestinationRecord>>;
  /** Null when there is none. One that was paused and becomes active begins anew from now on. */
  patch(organizationId: string, id: string, patch: ExportDestinationPatch): Promise<ExportDestinationRecord | null>;
  /** False when there was none. */
  remove(organizationId: string, id: string): Promise<boolean>;
  /** For the activities of its own workflow: whose it is, is known from the row. */
  byIdUnscoped(id: string): Promise<ExportDestinationRecord | null>;
  /** Ids of active destinations of all organizations, in their order. */
  activeIdsAfter(id: string | null, limit: number): Promise<string[]>;
  /** Writes down that all before a position is delivered; with `uploadedAt` by an object of then. Goes forward only. */
  advance(activation: ExportActivation, to: AuditPosition, uploadedAt: Date | null): Promise<void>;
  /** Writes down a failure and when it is tried again. `error` is in our words. */
  fail(activation: ExportActivation, failure: { error: string; at: Date; nextAttemptAt: Date }): Promise<void>;
  /** Writes down when the next window commits. */
  waitUntil(activation: ExportActivation, nextAttemptAt: Date): Promise<void>;
}

/** Queries of export destinations. */
export function createAuditExportDestinationQueries(db: Db, clock: () => Date): AuditExportDestinationQueries {
  const table = 'audit_export_destinations';
  const ofOrganization = (organizationId: string) =>
    db.selectFrom(table).selectAll().where('organization_id', '=', organizationId);
  const whileActive = ({ id, activation }: ExportActivation) =>
    db.updateTable(table).where('id', '=', id).where('activation', '=', activation).where('status', '=', 'active');
  /** Where delivery begins: what was before is not exported. */
  const beginning = () => ({ exported_at: clock(), exported_seq: 0, consecutive_failures: 0, next_attempt_at: null });

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
            ...beginning(),
            created_at: clock(),
            updated_at: clock(),
          })
          .returningAll()
          .executeTakeFirstOrThrow(),
      ),
    find: async (organizationId, id) =>
      presentOrNull(await ofOrganization(organizationId).where('id', '=', id).executeTakeFirst()),
    list: (organizationId, page) =>
      readPage(ofOrganization(organizationId).orderBy('created_at', 'desc').orderBy('id', 'desc'), page, present),
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
            ...(resumes ? { ...beginning(), activation: current.activation + 1 } : {}),
            // What was wrong may be mended: it is tried again at once.
            next_attempt_at: null,
            updated_at: clock(),
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        return present(row);
      }),
    remove: async (organizationId, id) => {
      const { numDeletedRows } = await db
        .deleteFrom(table)
        .where('organization_id', '=', organizationId)
        .where('id', '=', id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
    byIdUnscoped: async (id) =>
      presentOrNull(await db.selectFrom(table).selectAll().where('id', '=', id).executeTakeFirst()),
    activeIdsAfter: async (id, limit) => {
      const rows = await db
        .selectFrom(table)
        .select('id')
        .where('status', '=', 'active')
        .where('id', '>', id ?? '')
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map((row) => row.id);
    },
    advance: async (activation, to, uploadedAt) => {
      await whileActive(activation)
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
      await whileActive(activation)
        .set((eb) => ({
          consecutive_failures: eb('consecutive_failures', '+', 1),
          last_error: error,
          last_error_at: at,
          next_attempt_at: nextAttemptAt,
        }))
        .execute();
    },
    waitUntil: async (activation, nextAttemptAt) => {
      await whileActive(activation).set({ next_attempt_at: nextAttemptAt }).execute();
    },
  };
}

type Row = Selectable<Database['audit_export_destinations']>;

function presentOrNull(row: Row | undefined): ExportDestinationRecord | null {
  return row === undefined ? null : present(row);
}

function present(row: Row): ExportDestinationRecord {
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
