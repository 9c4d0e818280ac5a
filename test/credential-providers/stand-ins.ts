import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHash, createHmac } from 'node:crypto';
import { newPasskey } from '../setup/passkey.ts';

/** One call that a stand-in has got. */
export interface Call {
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  body: string;
}

/** An external secret store of the tests: speaks the real one's protocol, as its public documents describe it. */
export interface StandIn {
  address: string;
  host: string;
  calls: Call[];
  close(): Promise<void>;
}

/** What a stand-in says: status, JSON, headers. */
export type Answer = [status: number, body: unknown, headers?: Record<string, string>];

/** Starts a server on a free port of this machine. */
export async function startStandIn(answer: (call: Call) => Answer): Promise<StandIn> {
  const calls: Call[] = [];
  const server = http.createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const piece of request) body += String(piece);
      const call = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
      calls.push(call);
      const [status, content, headers = {}] = answer(call);
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(content));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://localhost:${String(port)}`,
    host: `localhost:${String(port)}`,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** The passkey of the shop in every stand-in, in the form that credentials take. */
export const SHOP_PASSKEY = newPasskey('16 bytes as UUID', { user_name: 'ann' });

/** The token that every stand-in takes. AWS takes it as `ACCESS:SECRET`. */
export const TOKEN = 'AKIDEXAMPLE:a-token-that-nobody-may-see';

/** Secrets of a Vault KV v2 engine at `secret/`, by path; a function is asked at each read. */
export type VaultSecrets = Record<
  string,
  { data: Record<string, unknown>; url?: string; version?: number; readOnly?: boolean }
>;

/**
 * HashiCorp Vault or OpenBao: KV version 2, token look-up, and merge patches that are held against the version they are made for. A
 * read-only token is refused with 403.
 */
export function vaultAnswers(secrets: () => VaultSecrets): (call: Call) => Answer {
  return ({ method, path, headers, body }) => {
    if (headers['x-vault-token'] !== TOKEN) return [403, { errors: ['permission denied'] }];
    const url = new URL(path, 'http://vault');
    const at = decodeURIComponent(url.pathname);
    if (at === '/v1/auth/token/lookup-self') return [200, { data: { display_name: 'token' } }];
    const [, kind, name = ''] = /^\/v1\/secret\/(data|metadata)\/(.*)$/.exec(at) ?? [];
    if (kind === 'metadata' && url.searchParams.get('list') === 'true') {
      const below = Object.keys(secrets()).filter((key) => key.startsWith(name));
      const keys = new Set(below.map((key) => /^[^/]+\/?/.exec(key.slice(name.length))?.[0] ?? ''));
      return keys.size === 0 ? [404, { errors: [] }] : [200, { data: { keys: [...keys] } }];
    }
    const found = secrets()[name];
    if (found === undefined) return [404, { errors: [] }];
    if (kind === 'metadata') {
      return [200, { data: { custom_metadata: found.url === undefined ? null : { url: found.url } } }];
    }
    if (method === 'PATCH') {
      if (found.readOnly === true) return [403, { errors: ['1 error occurred: permission denied'] }];
      if (headers['content-type'] !== 'application/merge-patch+json') return [415, { errors: [] }];
      const { options, data } = JSON.parse(body) as { options: { cas: number }; data: Record<string, unknown> };
      if (options.cas !== (found.version ?? 1))
        return [400, { errors: ['check-and-set parameter did not match the current version'] }];
      found.version = options.cas + 1;
      Object.assign(found.data, data);
      return [200, { data: { version: found.version } }];
    }
    return [200, { data: { data: found.data, metadata: { version: found.version ?? 1 } } }];
  };
}

/** AWS Secrets Manager, which checks signatures by the published steps of Signature Version 4. */
export const awsAnswers = (call: Call): Answer => {
  if (!isSigned(call)) return [400, { __type: 'InvalidSignatureException', message: 'The signature does not match' }];
  const operation = String(call.headers['x-amz-target']).split('.')[1];
  const input = JSON.parse(call.body) as { NextToken?: string; SecretId?: string };
  const entry = (name: string, url?: string) => ({
    ARN: `arn:aws:secretsmanager:eu-central-1:1:secret:${name}`,
    Name: name,
    Tags: url === undefined ? [] : [{ Key: 'url', Value: url }],
  });
  if (operation === 'ListSecrets') {
    return input.NextToken === 'second'
      ? [200, { SecretList: [entry('shop', 'https://shop.example')] }]
      : [200, { SecretList: [entry('plain')], NextToken: 'second' }];
  }
  if (input.SecretId === 'plain') return [200, { SecretString: 'only-a-password', CreatedDate: 1700000000.5 }];
  if (input.SecretId?.endsWith('shop') !== true) return [400, { __type: 'ResourceNotFoundException' }];
  return [
    200,
    {
      SecretString: JSON.stringify({ user: 'ann', Password: 'pw-aws', otp: 'JBSWY3DPEHPK3PXP', passkey: SHOP_PASSKEY }),
      CreatedDate: 1,
    },
  ];
};

/** One secret of AWS Secrets Manager with its versions: written under a label, and made current where the one before still is. */
export interface AwsSecret {
  versions: Record<string, string>;
  current: string;
}

/** AWS Secrets Manager with one secret, which can be written. */
export function writableAwsAnswers(secret: AwsSecret): (call: Call) => Answer {
  return (call) => {
    if (!isSigned(call)) return [400, { __type: 'InvalidSignatureException' }];
    const input = JSON.parse(call.body) as Record<string, string> & { VersionStages?: string[] };
    switch (String(call.headers['x-amz-target'])) {
      case 'secretsmanager.GetSecretValue':
        return [
          200,
          { SecretString: secret.versions[secret.current], VersionId: secret.current, CreatedDate: 1700000000 },
        ];
      case 'secretsmanager.PutSecretValue':
        secret.versions[input['ClientRequestToken'] ?? ''] = input['SecretString'] ?? '';
        if (input.VersionStages === undefined || input.VersionStages.includes('AWSCURRENT'))
          secret.current = input['ClientRequestToken'] ?? '';
        return [200, { ARN: 'arn:shop', Name: 'shop', VersionId: input['ClientRequestToken'] }];
      case 'secretsmanager.UpdateSecretVersionStage':
        if (input['VersionStage'] !== 'AWSCURRENT' || input['RemoveFromVersionId'] !== secret.current)
          return [400, { __type: 'InvalidParameterException' }];
        secret.current = input['MoveToVersionId'] ?? '';
        return [200, { ARN: 'arn:shop', Name: 'shop' }];
      default:
        return [400, { __type: 'AccessDeniedException' }];
    }
  };
}

function isSigned({ method, path, headers, body }: Call): boolean {
  const [accessKey = '', secret = ''] = TOKEN.split(':');
  const match =
    /Credential=([^/]+)\/(\d+)\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)/.exec(
      headers.authorization ?? '',
    );
  const [, key, day = '', region = '', service = '', names = '', signature] = match ?? [];
  if (key !== accessKey) return false;
  const sha = (text: string) => createHash('sha256').update(text).digest('hex');
  const hmac = (by: string | Buffer, text: string) => createHmac('sha256', by).update(text).digest();
  const canonical = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const request = [method, path, '', canonical.join(''), names, sha(body)].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', String(headers['x-amz-date']), scope, sha(request)].join('\n');
  const signing = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), service), 'aws4_request');
  return hmac(signing, text).toString('hex') === signature;
}
