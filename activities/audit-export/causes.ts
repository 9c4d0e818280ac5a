import { z } from 'zod';

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
export function awsErrorCause(error: unknown): string {
  const { name, code } = Named.catch({ name: '', code: '' }).parse(error);
  const known = CAUSES.find(([codes]) => codes.test(name) || codes.test(code));
  if (known !== undefined) return known[1];
  const answered = Answered.safeParse(error);
  return answered.success
    ? `the service responded with status ${String(answered.data.$metadata.httpStatusCode)}`
    : 'unknown error';
}
