import { randomUUID } from 'node:crypto';
import aws4 from 'aws4';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import type { CredentialProviderItem } from '../contract/credential-providers.ts';
import type { Passkey } from '../contract/passkeys.ts';
import { requestJson, baseUrl, itemNotFound, parseJson, tokenRejected } from './request.ts';
import { passkeyAdder, secretsOf, textsOf, urlsOf } from './item-fields.ts';
import type { OpenedItem, ProviderAccount, SecretStore } from './secret-store.ts';

const DEFAULT_REGION = 'us-east-1';
/** Lists are truncated here; beyond that, credentials need paths. */
const MAX_ITEMS = 1000;
const PAGE_SIZE = 100;

const SecretList = z.object({
  SecretList: z.array(
    z.object({
      ARN: z.string(),
      Name: z.string(),
      Tags: z.array(z.object({ Key: z.string(), Value: z.string() })).nullish(),
    }),
  ),
  NextToken: z.string().nullable().default(null),
});
const SecretValue = z.object({
  SecretString: z.string().nullable().default(null),
  CreatedDate: z.number().nullish(),
  VersionId: z.string().nullish(),
});
const Written = z.object({ ARN: z.string() });
const Rejection = z.object({ __type: z.string() });
/** The label of a version that is written but not current yet. */
const PENDING = 'HOLDFAST_WRITTEN';
const CURRENT = 'AWSCURRENT';
const Fields = z.record(z.string(), z.unknown());

/**
 * AWS Secrets Manager, by its JSON API with version 4 signatures. Paths are names or ARNs of secrets. A secret is a JSON object or
 * a plain password; its sites are in its tags `url` or `domain`.
 */
export function createAwsSecretsManager(account: ProviderAccount, dispatcher: Dispatcher): SecretStore {
  const region = account.region ?? DEFAULT_REGION;
  const base = baseUrl({ address: account.address ?? `https://secretsmanager.${region}.amazonaws.com/` });
  const [accessKeyId, secretAccessKey, ...session] = account.token.split(':');

  const call = <Schema extends z.ZodType>(
    operation: string,
    input: object,
    schema: Schema,
    classify = classifyRejection,
  ) => {
    if (accessKeyId === undefined || secretAccessKey === undefined) throw tokenRejected();
    const { headers = {}, body } = aws4.sign(
      {
        host: base.host,
        path: base.pathname,
        method: 'POST',
        service: 'secretsmanager',
        region,
        headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `secretsmanager.${operation}` },
        body: JSON.stringify(input),
      },
      { accessKeyId, secretAccessKey, ...(session.length === 0 ? {} : { sessionToken: session.join(':') }) },
    );
    const sent = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || name.toLowerCase() === 'content-length' ? [] : [[name, String(value)] as const],
    );
    const storeRequest = { method: 'POST', url: base, headers: Object.fromEntries(sent), body: String(body) } as const;
    return requestJson(dispatcher, { ...storeRequest, classifyRejection: classify }, schema);
  };
  const page = (token: string | null, size: number) =>
    call('ListSecrets', { MaxResults: size, ...(token === null ? {} : { NextToken: token }) }, SecretList);

  return {
    vaults: async () => {
      await page(null, 1);
      return [{ id: region, name: region }];
    },
    items: async () => {
      const items: CredentialProviderItem[] = [];
      let token: string | null = null;
      do {
        const listed: z.infer<typeof SecretList> | null = await page(token, PAGE_SIZE);
        for (const { ARN, Name, Tags } of listed?.SecretList ?? []) {
          const tags = Object.fromEntries((Tags ?? []).map(({ Key, Value }) => [Key, Value]));
          const place = { vault_id: region, vault_name: region };
          items.push({ id: ARN, path: Name, title: Name, ...place, urls: urlsOf(tags) });
        }
        token = listed?.NextToken ?? null;
      } while (token !== null && items.length < MAX_ITEMS);
      return items;
    },
    idOf: (path) => path,
    open: async (id) => {
      const found = await call('GetSecretValue', { SecretId: id }, SecretValue);
      const text = found?.SecretString ?? null;
      if (found === null || text === null) throw itemNotFound();
      return read(text, Math.round((found.CreatedDate ?? 0) * 1000), (next) => replace(id, found.VersionId, next));
    },
  };

  /** Writes a new version, and makes it current only if the version that was read still is. */
  async function replace(id: string, before: string | null | undefined, text: string): Promise<void> {
    if (typeof before !== 'string') throw tokenRejected();
    const version = randomUUID();
    const input = { SecretId: id, ClientRequestToken: version, SecretString: text, VersionStages: [PENDING] };
    if ((await call('PutSecretValue', input, Written)) === null) throw itemNotFound();
    const move = { SecretId: id, VersionStage: CURRENT, MoveToVersionId: version, RemoveFromVersionId: before };
    const moved = await call('UpdateSecretVersionStage', move, Written, (body) =>
      typeOf(body).endsWith('InvalidParameterException') ? 'changed' : classifyRejection(body),
    );
    if (moved === null) throw itemNotFound();
  }
}

function typeOf(body: unknown): string {
  return Rejection.safeParse(body).data?.__type ?? '';
}

function classifyRejection(body: unknown): 'missing' | 'busy' | 'changed' | null {
  const type = typeOf(body);
  if (type.endsWith('ResourceNotFoundException')) return 'missing';
  return type.endsWith('ThrottlingException') ? 'busy' : null;
}

function read(text: string, version: number, replace: (text: string) => Promise<void>): OpenedItem {
  const { data: fields } = Fields.safeParse(parseJson(text));
  // Anything but JSON is the password.
  if (fields === undefined) return secretsOf({ password: text }, version);
  const secrets = secretsOf(textsOf(fields), version);
  const add = passkeyAdder(fields);
  if (add === undefined) return secrets;
  const addPasskey = async (passkey: Passkey): Promise<void> => {
    const field = add(passkey);
    if (field !== null) await replace(JSON.stringify({ ...fields, [field.name]: field.value }));
  };
  return { ...secrets, addPasskey };
}
