import { z } from 'zod';

/** What a person does about an error of AWS, by the code that it names or its family. */
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
  [/^(TimeoutError|AbortError|RequestTimeout|ETIMEDOUT)$/, 'it took too long'],
  [/^EgressRefusedError$/, 'its address is private; the operator can list it as an allowed host'],
  [/^(ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/, 'the service cannot be reached'],
];

const Named = z.object({ name: z.string().catch(''), code: z.string().catch('') });
const Answered = z.object({ $metadata: z.object({ httpStatusCode: z.number() }) });

/**
 * Why a call of AWS's SDK failed, in our words. What the service said is not repeated: it holds names, keys and requests of
 * others, and an answer can be anybody's.
 */
export function awsErrorCause(error: unknown): string {
  const { name, code } = Named.catch({ name: '', code: '' }).parse(error);
  const known = CAUSES.find(([codes]) => codes.test(name) || codes.test(code));
  if (known !== undefined) return known[1];
  const answered = Answered.safeParse(error);
  return answered.success
    ? `the service answered with status ${String(answered.data.$metadata.httpStatusCode)}`
    : 'an unknown fault';
}
