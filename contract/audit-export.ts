import { z } from 'zod';

/** Bounds of a destination's fields, in characters (interface.md, "Limits"). */
const EXPORT_LIMITS = {
  region: { min: 1, max: 128 },
  bucket: { min: 3, max: 63 },
  prefix: { max: 512 },
  roleArn: { min: 1, max: 2048 },
  kmsKeyId: { max: 2048 },
} as const;

const settings = {
  // Both become part of a host name, so neither may contain what ends one.
  region: z
    .string()
    .min(EXPORT_LIMITS.region.min)
    .max(EXPORT_LIMITS.region.max)
    .regex(/^[A-Za-z0-9-]*$/, 'must be the name of a region, such as eu-central-1'),
  bucket: z
    .string()
    .min(EXPORT_LIMITS.bucket.min)
    .max(EXPORT_LIMITS.bucket.max)
    .regex(
      /^(?:[a-z0-9][a-z0-9.-]*[a-z0-9])?$/,
      'must be the name of a bucket: lower-case letters, digits, dots, dashes',
    ),
  prefix: z.string().max(EXPORT_LIMITS.prefix.max).describe('Prefix of all object names; may be empty'),
  role_arn: z
    .string()
    .min(EXPORT_LIMITS.roleArn.min)
    .max(EXPORT_LIMITS.roleArn.max)
    .describe('The role in your account to assume for delivery'),
};
const KmsKeyId = z.string().max(EXPORT_LIMITS.kmsKeyId.max);
const Status = z.enum(['active', 'paused']);

/** Body of `POST /audit-logs/export/destinations`. */
export const AuditExportDestinationCreate = z.strictObject({
  type: z.literal('s3'),
  format: z.literal('jsonl.gz'),
  ...settings,
  kms_key_id: KmsKeyId.optional().describe("The key to encrypt objects with; the store's own by default"),
});

/** Body of `PATCH /audit-logs/export/destinations/{id}`. */
export const AuditExportDestinationUpdate = z
  .strictObject({
    ...settings,
    status: Status.describe('`paused` stops delivery; `active` resumes it from that moment'),
  })
  .partial()
  .extend({ kms_key_id: KmsKeyId.nullish().describe('Empty removes it; null or absent keeps it') });

/** A destination (interface.md, "Audit log export destination"). */
export const AuditExportDestination = z.strictObject({
  id: z.string().max(128),
  type: z.literal('s3'),
  format: z.literal('jsonl.gz'),
  region: z.string(),
  bucket: z.string(),
  prefix: z.string(),
  role_arn: z.string(),
  external_id: z.string().max(128).describe("Require it as `sts:ExternalId` in the role's trust policy"),
  service_role_arn: z.string().max(2048).describe("The principal to allow in the role's trust policy"),
  kms_key_id: z.string().optional(),
  status: Status,
  consecutive_failures: z.int().min(0),
  last_error: z.string().optional().describe('The latest failure, as described by Holdfast'),
  last_error_at: z.iso.datetime().optional(),
  last_success_at: z.iso.datetime().optional(),
  next_attempt_at: z.iso.datetime().optional(),
  last_exported_cursor: z.string().optional().describe('Position of delivery; not a page token of the list'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type AuditExportDestination = z.infer<typeof AuditExportDestination>;

/** Which step of a delivery failed. */
export const ExportFailureCode = z.enum(['assume_role_failed', 'put_object_failed']);
export type ExportFailureCode = z.infer<typeof ExportFailureCode>;

/** Response of `POST /audit-logs/export/destinations/{id}/test`; `stage` is the step it ended at. */
export const AuditExportTest = z.strictObject({
  success: z.boolean(),
  stage: z.enum(['assume_role', 'put_object', 'complete']),
  error: z.strictObject({ code: ExportFailureCode, message: z.string() }).optional(),
});
export type AuditExportTest = z.infer<typeof AuditExportTest>;

/** Length of the windows of event time that are delivered, in milliseconds; an hour holds a whole number of them. */
export const EXPORT_WINDOW_MS = 5 * 60_000;
/** How long a window is held open after its end, in milliseconds: rows of slow requests arrive late. */
export const EXPORT_HOLD_MS = 10 * 60_000;

/** The next step of an export: `none` if it is paused or deleted, `wait` until a window commits or after a failure. */
export type ExportStep = { next: 'more' | 'none' } | { next: 'wait'; afterMs: number };

/** Activities that deliver the audit log to export destinations. */
export interface AuditExportActivities {
  /** Delivers the next object and records the position; a retry rewrites the same object. `now` in epoch ms. */
  exportNext(input: { destinationId: string; now: number }): Promise<ExportStep>;
}
