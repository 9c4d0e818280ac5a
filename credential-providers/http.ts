import type { Dispatcher } from 'undici';
import { request } from 'undici';
import type { z } from 'zod';
import { ItemChanged, SecretStoreError, type ProviderAccount } from './secret-store.ts';

/** A secret store that answers later than this does not answer, in milliseconds. */
const ANSWER_TIMEOUT_MS = 10_000;
/** Largest answer that is read, in bytes. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH';

/** One question to a secret store. */
export interface Question {
  method?: Method;
  url: URL;
  headers: Record<string, string>;
  body?: string;
  /** Stores that have one status for all refusals say in their words which one it is: `missing`, `busy` or `changed`; else null. */
  refusal?: (body: unknown) => 'missing' | 'busy' | 'changed' | null;
}

/**
 * Asks a secret store and reads its answer by `schema`. Redirects are not followed: a token goes to the address that was
 * configured alone. Null for 404. Throws {@link SecretStoreError}: `refused` for 401, 403, 405 and what the store calls a bad
 * request, {@link ItemChanged} for 409 and where it says so, `unavailable` for all else. What the store says in an error is dropped: it may hold a secret.
 */
export async function ask<Schema extends z.ZodType>(
  dispatcher: Dispatcher,
  { method = 'GET', url, headers, body, refusal = () => null }: Question,
  schema: Schema,
): Promise<z.infer<Schema> | null> {
  const answer = await exchange(dispatcher, url, { method, headers, ...(body === undefined ? {} : { body }) });
  if (answer.status === 404) return null;
  const why = answer.status === 400 ? refusal(answer.body) : null;
  if (why === 'missing') return null;
  if (why === 'busy') throw unavailable();
  if (why === 'changed' || answer.status === 409) throw new ItemChanged();
  if (REFUSALS.has(answer.status)) throw refused();
  if (answer.status < 200 || answer.status > 299) throw unavailable();
  const parsed = schema.safeParse(answer.body);
  if (!parsed.success) throw unavailable();
  return parsed.data;
}

const REFUSALS = new Set([400, 401, 403, 405]);

async function exchange(
  dispatcher: Dispatcher,
  url: URL,
  options: { method: Method; headers: Record<string, string>; body?: string },
): Promise<{ status: number; body: unknown }> {
  try {
    const { statusCode, body } = await request(url, {
      ...options,
      dispatcher,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of body) {
      const data = Buffer.from(piece as Uint8Array);
      bytes += data.length;
      if (bytes > MAX_ANSWER_BYTES) throw unavailable();
      pieces.push(data);
    }
    const text = Buffer.concat(pieces).toString('utf8');
    return { status: statusCode, body: text === '' ? null : parseJson(text) };
  } catch {
    // The cause is dropped: it may quote the address or the answer.
    throw unavailable();
  }
}

/** The base URL of an account. Throws `unavailable` where it has none: its creator is told what to set when it is tested. */
export function baseUrl({ address }: Pick<ProviderAccount, 'address'>): URL {
  if (address === null) {
    throw new SecretStoreError(
      'credential_provider_unavailable',
      'The credential provider has no address; set `address` to the base URL of its server',
    );
  }
  return new URL(address.endsWith('/') ? address : `${address}/`);
}

/** The fault of a token that the secret store does not accept. */
export function refused(): SecretStoreError {
  return new SecretStoreError('credential_provider_refused');
}

/** The fault of an item that is not there (any more). */
export function noSuchItem(): SecretStoreError {
  return new SecretStoreError(
    'credential_item_not_found',
    'The credential provider has no such item; check the path of the credential, or the URLs of its items',
  );
}

function unavailable(): SecretStoreError {
  return new SecretStoreError(
    'credential_provider_unavailable',
    'The credential provider does not answer as expected; check its address, and that its host may be reached',
  );
}

/** What JSON says; undefined for what is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
