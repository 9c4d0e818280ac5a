import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import aws4 from 'aws4';
import type { ExportStoreSettings } from '../../activities/audit-export/delivery.ts';

/** The credentials of the installation, and those that the stand-in gives for a role. */
const SERVICE = { accessKeyId: 'AKIASERVICE', secretAccessKey: 'secret-of-the-installation' };
const ROLE = { accessKeyId: 'ASIAROLE', secretAccessKey: 'secret-of-the-role', sessionToken: 'token-of-the-session' };

/** An object as it was put. */
export interface PutObject {
  key: string;
  /** Milliseconds, by the clock that the stand-in was given. */
  at: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** What a call is answered with in place of what it asked for: an error of that code, or nothing at all. */
export type Refusal = { status: number; code: string } | 'silence';

/** A server that speaks what deliveries use of S3 and STS, and holds every request against its signature. */
export interface S3StandIn {
  settings: ExportStoreSettings;
  /** In order, those that were refused or left without an answer, too. */
  puts: PutObject[];
  /** What each call of `AssumeRole` asked for. */
  assumed: Record<string, string>[];
  /** For the calls that follow, in order. */
  refuse: { put: Refusal[]; assume: Refusal[] };
  close(): Promise<void>;
}

/** Starts one with the bucket `audit`. */
export async function startS3StandIn(clock: () => Promise<number> = async () => Date.now()): Promise<S3StandIn> {
  const puts: PutObject[] = [];
  const assumed: S3StandIn['assumed'] = [];
  const refuse: S3StandIn['refuse'] = { put: [], assume: [] };

  const server = createServer((request, response) => {
    const answer = (status: number, body: string) =>
      response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
    const refusal = (refused: Refusal) =>
      refused === 'silence' ? undefined : answer(refused.status, errorOf(refused.code, request.method === 'POST'));

    void readAll(request).then(async (body) => {
      if (request.method === 'POST') {
        if (!isSigned(request, body, 'sts', SERVICE)) return refusal({ status: 403, code: 'SignatureDoesNotMatch' });
        assumed.push(Object.fromEntries(new URLSearchParams(body.toString())));
        const refused = refuse.assume.shift();
        return refused === undefined ? answer(200, ROLE_ANSWER) : refusal(refused);
      }
      if (!isSigned(request, body, 's3', ROLE) || request.headers['x-amz-security-token'] !== ROLE.sessionToken)
        return refusal({ status: 403, code: 'SignatureDoesNotMatch' });
      const [, bucket, key = ''] = /^\/([^/]+)\/([^?]*)/.exec(request.url ?? '') ?? [];
      if (bucket !== 'audit') return refusal({ status: 404, code: 'NoSuchBucket' });
      puts.push({ key: decodeURIComponent(key), at: await clock(), headers: request.headers, body });
      const refused = refuse.put.shift();
      return refused === undefined ? answer(200, '') : refusal(refused);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    settings: { s3Endpoint: endpoint, stsEndpoint: endpoint, credentials: SERVICE },
    puts,
    assumed,
    refuse,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The lines of an exported object. */
export function linesOf(body: Buffer): { event_id: string; timestamp: string; path: string }[] {
  const text = gunzipSync(body).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ReturnType<typeof linesOf>[number]);
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(Buffer.from(piece as Uint8Array));
  return Buffer.concat(pieces);
}

function isSigned(
  { method = '', url = '', headers }: IncomingMessage,
  body: Buffer,
  service: string,
  credentials: { accessKeyId: string; secretAccessKey: string },
): boolean {
  const given = /Credential=[^/]+\/\d+\/([^/]+)\/.*SignedHeaders=([^,]+), Signature=(\w+)/.exec(
    headers.authorization ?? '',
  );
  const [, region = '', names = '', signature] = given ?? [];
  const hash = createHash('sha256').update(body).digest('hex');
  if (service === 's3' && headers['x-amz-content-sha256'] !== hash) return false;
  const signer = new aws4.RequestSigner(
    {
      service,
      region,
      method,
      path: url,
      body: body.toString('latin1'),
      headers: Object.fromEntries(names.split(';').map((name) => [name, String(headers[name])])),
      doNotModifyHeaders: true,
    },
    credentials,
  );
  // Else it signs for this moment, and what was sent before the second was full would be refused.
  signer.datetime = String(headers['x-amz-date']);
  const signed = signer.sign();
  return String(signed.headers?.['Authorization']).endsWith(`Signature=${signature ?? 'none'}`);
}

const ROLE_ANSWER = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
<AccessKeyId>${ROLE.accessKeyId}</AccessKeyId><SecretAccessKey>${ROLE.secretAccessKey}</SecretAccessKey>
<SessionToken>${ROLE.sessionToken}</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration>
</Credentials></AssumeRoleResult></AssumeRoleResponse>`;

/** As the services answer; what stands beside the code is in no message of ours. */
function errorOf(code: string, ofSts: boolean): string {
  const error = `<Error><Code>${code}</Code><Message>User ${SERVICE.accessKeyId} may not, says the provider</Message></Error>`;
  return ofSts ? `<ErrorResponse>${error}<RequestId>r-1</RequestId></ErrorResponse>` : error;
}
