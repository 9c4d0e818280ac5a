import aws4 from 'aws4';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import type { CredentialProviderItem } from '../contract/credential-providers.ts';
import { ask, baseUrl, noSuchItem, parseJson, refused } from './http.ts';
import { secretsOf, textsOf, urlsOf } from './item-fields.ts';
import type { ItemSecrets, ProviderAccount, SecretStore } from './secret-store.ts';

const DEFAULT_REGION = 'us-east-1';
/** A list is cut here: who has more names paths instead. */
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
const SecretValue = z.object({ SecretString: z.string().nullable().default(null), CreatedDate: z.number().nullish() });
const Refusal = z.object({ __type: z.string() });
const Fields = z.record(z.string(), z.unknown());

/**
 * AWS Secrets Manager by its JSON interface, signed with version 4 signatures. Paths are names or ARNs of secrets. A secret
 * is a JSON object of texts, or a password alone; its sites are what its tags `url` or `domain` say.
 */
export function createAwsSecretsManager(account: ProviderAccount, dispatcher: Dispatcher): SecretStore {
  const region = account.region ?? DEFAULT_REGION;
  const base = baseUrl({ address: account.address ?? `https://secretsmanager.${region}.amazonaws.com/` });
  const [accessKeyId, secretAccessKey, ...session] = account.token.split(':');

  const call = <Schema extends z.ZodType>(operation: string, input: object, schema: Schema) => {
    if (accessKeyId === undefined || secretAccessKey === undefined) throw refused();
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
    const question = { method: 'POST', url: base, headers: Object.fromEntries(sent), body: String(body) } as const;
    return ask(dispatcher, { ...question, refusal }, schema);
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
      if (found === null || text === null) throw noSuchItem();
      return read(text, Math.round((found.CreatedDate ?? 0) * 1000));
    },
  };
}

function refusal(body: unknown): 'missing' | 'busy' | null {
  const type = Refusal.safeParse(body).data?.__type ?? '';
  if (type.endsWith('ResourceNotFoundException')) return 'missing';
  return type.endsWith('ThrottlingException') ? 'busy' : null;
}

function read(text: string, version: number): ItemSecrets {
  const fields = Fields.safeParse(parseJson(text));
  // What is no JSON is the password, the whole of it.
  return secretsOf(fields.success ? textsOf(fields.data) : { password: text }, version);
}
