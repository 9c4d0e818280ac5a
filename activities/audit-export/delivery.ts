import { Agent } from 'node:https';
import type { AuditExportTest, ExportFailureCode } from '../../contract/audit-export.ts';
import { guardedLookup } from '../../egress/guarded-lookup.ts';
import type { EgressPolicy } from '../../egress/policy.ts';
import type { ExportTarget } from '../../store/queries/audit-export-destinations.ts';
import { awsErrorCause } from './causes.ts';
import { folderOf, type ExportObject } from './objects.ts';

/** How objects reach their store; what is not set is AWS's own. */
export interface ExportStoreSettings {
  /** An S3-compatible store, and the service that gives out roles for it: the operator's own, so that they may be private. */
  s3Endpoint?: string | undefined;
  stsEndpoint?: string | undefined;
  /** Whose role assumes those of destinations; else the SDK finds them (environment, files, the machine's role). */
  credentials?: { accessKeyId: string; secretAccessKey: string } | undefined;
}

/** A delivery failed. The message is in our words: what the store answered is in none of it. */
export class ExportDeliveryError extends Error {
  override readonly name = 'ExportDeliveryError';
  readonly code: ExportFailureCode;

  constructor(code: ExportFailureCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Brings objects to a destination. */
export interface ExportDelivery {
  /** Assumes the destination's role and puts the object; the same key again is written over. Throws {@link ExportDeliveryError}. */
  put(target: ExportTarget, object: ExportObject, signal?: AbortSignal): Promise<void>;
}

/** A store that says nothing for so long does not answer, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 120_000;
/** Tries of one request. After them the workflow waits, which anybody can see. */
const TRIES = 2;
/** How long a test of a destination takes at most, in milliseconds: somebody waits for its answer. */
const TEST_TIMEOUT_MS = 20_000;
/** Shortest life of a session that STS gives, in seconds: it is for one object. */
const SESSION_SECONDS = 900;

/** Makes the delivery to S3. AWS's SDK is loaded by the first object, for its size. */
export function createExportDelivery(settings: ExportStoreSettings, egress: EgressPolicy): ExportDelivery {
  const common = (region: string, endpoint: string | undefined) => ({
    region,
    maxAttempts: TRIES,
    ...(endpoint === undefined ? {} : { endpoint }),
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      // Regions are part of host names, and regions are given by callers. A client that is closed closes its agent.
      ...(endpoint === undefined ? { httpsAgent: new Agent({ lookup: guardedLookup(egress) }) } : {}),
    },
  });
  const sending = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { abortSignal: signal });

  async function assumeRole({ id, region, roleArn, externalId }: ExportTarget, signal: AbortSignal | undefined) {
    const { STSClient, AssumeRoleCommand } = await import('@aws-sdk/client-sts');
    const { credentials, stsEndpoint } = settings;
    const client = new STSClient({
      ...common(region, stsEndpoint),
      ...(credentials === undefined ? {} : { credentials }),
    });
    try {
      const { Credentials: given } = await client.send(
        new AssumeRoleCommand({
          RoleArn: roleArn,
          ExternalId: externalId,
          RoleSessionName: `holdfast-${id}`,
          DurationSeconds: SESSION_SECONDS,
        }),
        sending(signal),
      );
      if (given?.AccessKeyId === undefined || given.SecretAccessKey === undefined)
        throw new Error('no credentials in the answer');
      return {
        accessKeyId: given.AccessKeyId,
        secretAccessKey: given.SecretAccessKey,
        ...(given.SessionToken === undefined ? {} : { sessionToken: given.SessionToken }),
      };
    } finally {
      client.destroy();
    }
  }

  type RoleCredentials = Awaited<ReturnType<typeof assumeRole>>;
  async function putObject(
    { region, bucket, kmsKeyId }: ExportTarget,
    { key, body }: ExportObject,
    credentials: RoleCredentials,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { S3Client, PutObjectCommand } = await import('@aws-sdk/client-s3');
    const { s3Endpoint } = settings;
    const client = new S3Client({
      ...common(region, s3Endpoint),
      credentials,
      // Stores of other makers have one host name, and not all know AWS's newer checksums.
      ...(s3Endpoint === undefined
        ? {}
        : { forcePathStyle: true, requestChecksumCalculation: 'WHEN_REQUIRED' as const }),
    });
    try {
      await client.send(
        new PutObjectCommand({
          Bucket: bucket,
          Key: key,
          Body: body,
          ContentType: 'application/gzip',
          ...(kmsKeyId === null ? {} : { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: kmsKeyId }),
        }),
        sending(signal),
      );
    } finally {
      client.destroy();
    }
  }

  return {
    put: async (target, object, signal) => {
      const credentials = await assumeRole(target, signal).catch((error: unknown) => {
        throw new ExportDeliveryError('assume_role_failed', `The role could not be assumed: ${awsErrorCause(error)}`);
      });
      await putObject(target, object, credentials, signal).catch((error: unknown) => {
        throw new ExportDeliveryError('put_object_failed', `The object could not be put: ${awsErrorCause(error)}`);
      });
    },
  };
}

/**
 * Tries a destination by an empty object beside the exported ones; the same is written over by each test. What `signal` ends, by
 * itself after twenty seconds, has failed.
 */
export async function testDelivery(
  delivery: ExportDelivery,
  target: ExportTarget,
  signal: AbortSignal = AbortSignal.timeout(TEST_TIMEOUT_MS),
): Promise<AuditExportTest> {
  try {
    await delivery.put(target, { key: `${folderOf(target)}/connection-test`, body: Buffer.alloc(0) }, signal);
    return { success: true, stage: 'complete' };
  } catch (error) {
    if (!(error instanceof ExportDeliveryError)) throw error;
    const { code, message } = error;
    return {
      success: false,
      stage: code === 'assume_role_failed' ? 'assume_role' : 'put_object',
      error: { code, message },
    };
  }
}
