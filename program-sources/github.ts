import { createHash } from 'node:crypto';
import { request, type Dispatcher } from 'undici';
import { MAX_SOURCE_BYTES, type FetchedSource, type GithubSource } from '../contract/apps.ts';
import { HoldfastError, invalidField } from '../contract/errors.ts';
import { createGuardedDispatcher } from '../egress/guard.ts';
import type { EgressPolicy } from '../egress/policy.ts';
import { EgressRefusedError } from '../egress/resolve.ts';
import { rebase } from './rebased-archive.ts';

/** The API of github.com; GitHub Enterprise has its own. */
export const GITHUB_API_URL = 'https://api.github.com';
const DOWNLOAD_TIMEOUT_MS = 60_000;
/** GitHub redirects to its archive host, which may redirect again. */
const MAX_REDIRECTS = 3;
/** Concurrent downloads: each is held in memory, briefly twice. */
const MAX_DOWNLOADS = 2;
const UNREACHABLE = 'GitHub is not reachable; try again later, or upload the program as a ZIP archive in `file`';

/** What {@link createGithubFetcher} needs. */
export interface GithubDeps {
  /** Without a trailing slash. */
  apiUrl: string;
  egress: EgressPolicy;
}

/**
 * Creates a function that downloads programs from repositories through the egress guard. The token is sent only to the API, never to
 * redirect targets, and appears in no message. Throws `invalid_input` naming the field, `payload_too_large`, `operation_failed`,
 * `rate_limited` or `unavailable`.
 */
export function createGithubFetcher({ apiUrl, egress }: GithubDeps): (source: GithubSource) => Promise<FetchedSource> {
  const dispatcher = createGuardedDispatcher(egress);
  let downloads = 0;
  return async (source) => {
    const repository = repositoryOf(source.url, apiUrl);
    if (downloads >= MAX_DOWNLOADS) {
      const fault = 'Too many downloads from GitHub at the same time; try again';
      throw new HoldfastError('rate_limited', fault, { retryAfterSeconds: 5 });
    }
    downloads += 1;
    try {
      const ref = source.ref.split('/').map(encodeURIComponent).join('/');
      const url = new URL(`${apiUrl}/repos/${repository}/zipball/${ref}`);
      const downloaded = await download(dispatcher, url, source.auth?.token);
      const checksum = createHash('sha256').update(downloaded).digest('hex');
      return { archive: await rebase(downloaded, source), checksum };
    } finally {
      downloads -= 1;
    }
  };
}

/** `owner/name` of a repository. Throws if its host is not the API's. */
function repositoryOf(text: string, apiUrl: string): string {
  const invalidUrl = (why: string): HoldfastError => invalidField('source.url', why);
  if (!URL.canParse(text)) throw invalidUrl('must be the URL of a repository, such as https://github.com/owner/name');
  const url = new URL(text);
  const { host } = new URL(apiUrl);
  const expected = apiUrl === GITHUB_API_URL ? 'github.com' : host;
  if (url.username !== '' || url.password !== '') throw invalidUrl('must not contain a token; send it in source.auth');
  if (url.host !== expected) throw invalidUrl(`must be a repository on ${expected}`);
  const parts = url.pathname
    .replace(/\/$/, '')
    .replace(/\.git$/, '')
    .split('/')
    .slice(1);
  if (parts.length !== 2 || !parts.every((part) => /^[\w.-]+$/.test(part) && !/^\.+$/.test(part))) {
    throw invalidUrl(`must be https://${expected}/owner/name, without a branch or a path`);
  }
  return parts.join('/');
}

async function download(dispatcher: Dispatcher, url: URL, token: string | undefined): Promise<Buffer> {
  const signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS);
  try {
    return await fetchArchive(dispatcher, url, token, signal);
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    // The error may quote a URL signed by GitHub.
    if (error instanceof EgressRefusedError) {
      throw new HoldfastError(
        'operation_failed',
        'The egress policy of this installation blocks GitHub; have the operator allow its hosts',
      );
    }
    throw unavailable();
  }
}

async function fetchArchive(
  dispatcher: Dispatcher,
  start: URL,
  token: string | undefined,
  signal: AbortSignal,
): Promise<Buffer> {
  let url = start;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const authorization =
      token === undefined || url.origin !== start.origin ? {} : { authorization: `Bearer ${token}` };
    const headers = { 'user-agent': 'holdfast', 'x-github-api-version': '2022-11-28', ...authorization };
    const response = await request(url, { dispatcher, signal, headers });
    const { location } = response.headers;
    if (response.statusCode === 200) return await readLimited(response.body);
    await response.body.dump();
    if (response.statusCode < 300 || response.statusCode > 399 || typeof location !== 'string') {
      throw errorFor(response.statusCode, token !== undefined);
    }
    url = new URL(location, url);
    if (url.protocol !== start.protocol) throw unavailable();
  }
  throw unavailable();
}

async function readLimited(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_SOURCE_BYTES) {
      throw new HoldfastError('payload_too_large', 'source: the repository exceeds the size limit of a program');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function errorFor(status: number, hasToken: boolean): HoldfastError {
  if (status === 401) return invalidField('source.auth.token', 'rejected by GitHub');
  if (status === 404 || status === 422) {
    const more = hasToken ? 'or the token may not read it' : 'or it is private: send source.auth';
    return invalidField('source', `GitHub has no such repository or ref, ${more}`, 'not_found');
  }
  if (status === 403 || status === 429) {
    const why = 'the rate limit is exhausted, or the token may not read the repository';
    return new HoldfastError('operation_failed', `GitHub refused the repository: ${why}`);
  }
  return unavailable();
}

function unavailable(): HoldfastError {
  return new HoldfastError('unavailable', UNREACHABLE, { retryAfterSeconds: 10 });
}
