import { Agent } from 'node:https';
import type { AuditExportTest, ExportFailureCode } from '../../contract/audit-export.ts';
import { guardedLookup } from '../../egress/resolve.ts';
import type { EgressPolicy } from '../../egress/policy.ts';
import type { ExportTarget } from '../../store/queries/audit-export-destinations.ts';
import { folderOf, type ExportObject } from './objects.ts';
import { z } from 'zod';

/** How to reach the object store; AWS by default. */
export interface ExportStoreSettings {
  /** URLs of an S3-compatible store and its STS. They are set by the operator, so they may be private. */
  s3Endpoint?: string | undefined;
  stsEndpoint?: string | undefined;
  /** Credentials that assume the roles of destinations; by default the SDK's (environment, files, instance role). */
  credentials?: { accessKeyId: string; secretAccessKey: string } | undefined;
}

/** A failed delivery. The message never quotes the store's response. */
export class ExportDeliveryError extends Error {
  override readonly name = 'ExportDeliveryError';
  readonly code: ExportFailureCode;

  constructor(code: ExportFailureCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Delivers objects to destinations. */
export interface ExportDelivery {
  /** Assumes the destination's role and puts the object; an existing key is overwritten. Throws {@link ExportDeliveryError}. */
  put(target: ExportTarget, object: ExportObject, signal?: AbortSignal): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 120_000;
/** Attempts per request. After that the workflow backs off, which is visible to users. */
const MAX_ATTEMPTS = 2;
/** Timeout of a destination test, in milliseconds: somebody waits for the result. */
const TEST_TIMEOUT_MS = 20_000;
/** Shortest lifetime of an STS session, in seconds: it is used for one object. */
const SESSION_SECONDS = 900;

/** Creates the delivery to S3. The AWS SDK is large, so it is loaded on first use. */
export function createExportDelivery(settings: ExportStoreSettings, egress: EgressPolicy): ExportDelivery {
  const common = (region: string, endpoint: string | undefined) => ({
    region,
    maxAttempts: MAX_ATTEMPTS,
    ...(endpoint === undefined ? {} : { endpoint }),
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      // Callers choose regions, which are part of host names. Closing a client closes its agent.
      ...(endpoint === undefined ? { httpsAgent: new Agent({ lookup: guardedLookup(egress) }) } : {}),
    },
  });
  const sendOptions = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { abortSignal: signal });

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
        sendOptions(signal),
      );
      if (given?.AccessKeyId === undefined || given.SecretAccessKey === undefined)
        throw new Error('no credentials in the response');
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
      // S3-compatible stores have a single host name, and some do not support AWS's newer checksums.
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
        sendOptions(signal),
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

/** Tests a destination by putting an empty object, which each test overwrites. Fails once `signal` aborts. */
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

/** What to do about an AWS error, by its code. */
const CAUSES: readonly (readonly [codes: RegExp, words: string])[] = [
  [/^KMS\./, 'the KMS key cannot be used; check its id, its region and its policy'],
  [
    /^(AccessDenied|AccessDeniedException|AllAccessDisabled)$/,
    'access is denied; check the policies of role, bucket and key',
  ],
  [/^NoSuchBucket$/, 'the bucket does not exist'],
  [
    /^(PermanentRedirect|TemporaryRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/,
    'the bucket is in another region',
  ],
  [
    /^(InvalidClientTokenId|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|ExpiredTokenException|CredentialsProviderError)$/,
    'the credentials of this installation are missing or not valid; its operator sets them',
  ],
  [/^RegionDisabledException$/, 'the region is not enabled in the account'],
  [
    /^(SlowDown|Throttling|ThrottlingException|ServiceUnavailable|RequestLimitExceeded)$/,
    'the service asks to slow down',
  ],
  [/^(TimeoutError|AbortError|RequestTimeout|ETIMEDOUT)$/, 'the request timed out'],
  [/^EgressRefusedError$/, 'its address is private; the operator can list it as an allowed host'],
  [/^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/, 'the service cannot be reached'],
];

const Named = z.object({ name: z.string().catch(''), code: z.string().catch('') });
const Answered = z.object({ $metadata: z.object({ httpStatusCode: z.number() }) });

/** Describes why an AWS SDK call failed. Never quotes the service, whose message may contain names, keys, and requests. */
function awsErrorCause(error: unknown): string {
  const { name, code } = Named.catch({ name: '', code: '' }).parse(error);
  const known = CAUSES.find(([codes]) => codes.test(name) || codes.test(code));
  if (known !== undefined) return known[1];
  const answered = Answered.safeParse(error);
  return answered.success
    ? `the service responded with status ${String(answered.data.$metadata.httpStatusCode)}`
    : 'unknown error';
}
