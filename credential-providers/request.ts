import type { Dispatcher } from 'undici';
import { request } from 'undici';
import type { z } from 'zod';
import { ItemChanged, SecretStoreError, type ProviderAccount } from './secret-store.ts';

const RESPONSE_TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH';

/** A request to a secret store. */
interface StoreRequest {
  method?: Method;
  url: URL;
  headers: Record<string, string>;
  body?: string;
  /** Classifies the body of a 400 response, for stores that use this status for every failure. */
  classifyRejection?: (body: unknown) => 'missing' | 'busy' | 'changed' | null;
}

/**
 * Sends a request to a secret store and parses the response; null for 404. Redirects are not followed, so that the token only goes
 * to the configured address. Throws {@link SecretStoreError} (`refused` for 400, 401, 403 and 405, else `unavailable`) or
 * {@link ItemChanged} for 409. Error responses are dropped, since they may contain secrets.
 */
export async function requestJson<Schema extends z.ZodType>(
  dispatcher: Dispatcher,
  { method = 'GET', url, headers, body, classifyRejection = () => null }: StoreRequest,
  schema: Schema,
): Promise<z.infer<Schema> | null> {
  const response = await send(dispatcher, url, { method, headers, ...(body === undefined ? {} : { body }) });
  if (response.status === 404) return null;
  const reason = response.status === 400 ? classifyRejection(response.body) : null;
  if (reason === 'missing') return null;
  if (reason === 'busy') throw unavailable();
  if (reason === 'changed' || response.status === 409) throw new ItemChanged();
  if (REJECTED_STATUSES.has(response.status)) throw tokenRejected();
  if (response.status < 200 || response.status > 299) throw unavailable();
  const parsed = schema.safeParse(response.body);
  if (!parsed.success) throw unavailable();
  return parsed.data;
}

const REJECTED_STATUSES = new Set([400, 401, 403, 405]);

async function send(
  dispatcher: Dispatcher,
  url: URL,
  options: { method: Method; headers: Record<string, string>; body?: string },
): Promise<{ status: number; body: unknown }> {
  try {
    const { statusCode, body } = await request(url, {
      ...options,
      dispatcher,
      headersTimeout: RESPONSE_TIMEOUT_MS,
      bodyTimeout: RESPONSE_TIMEOUT_MS,
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      const data = Buffer.from(chunk as Uint8Array);
      bytes += data.length;
      if (bytes > MAX_RESPONSE_BYTES) throw unavailable();
      chunks.push(data);
    }
    const text = Buffer.concat(chunks).toString('utf8');
    return { status: statusCode, body: text === '' ? null : parseJson(text) };
  } catch {
    // The cause is dropped, since it may quote the address or the response.
    throw unavailable();
  }
}

/** The base URL of an account. Throws `unavailable` if it has none, which testing the provider reports. */
export function baseUrl({ address }: Pick<ProviderAccount, 'address'>): URL {
  if (address === null) {
    throw new SecretStoreError(
      'credential_provider_unavailable',
      'The credential provider has no address; set `address` to the base URL of its server',
    );
  }
  return new URL(address.endsWith('/') ? address : `${address}/`);
}

/** The secret store does not accept the token. */
export function tokenRejected(): SecretStoreError {
  return new SecretStoreError('credential_provider_refused');
}

/** The item does not exist. */
export function itemNotFound(): SecretStoreError {
  return new SecretStoreError(
    'credential_item_not_found',
    'Item not found at the credential provider; check the credential path or the URLs of the items',
  );
}

function unavailable(): SecretStoreError {
  return new SecretStoreError(
    'credential_provider_unavailable',
    'The credential provider did not respond as expected; check its address and that its host is reachable',
  );
}

/** Parses JSON; undefined if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
