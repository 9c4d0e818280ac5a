import { createHash } from 'node:crypto';
import { request, type Dispatcher } from 'undici';
import { MAX_SOURCE_BYTES, type FetchedSource, type GithubSource } from '../contract/apps.ts';
import { HoldfastError, invalidField } from '../contract/errors.ts';
import { createGuardedDispatcher } from '../egress/guard.ts';
import type { EgressPolicy } from '../egress/policy.ts';
import { EgressRefusedError } from '../egress/resolve.ts';
import { rebase } from './rebased-archive.ts';

/** The API of GitHub itself; GitHub Enterprise has another. */
export const GITHUB_API_URL = 'https://api.github.com';
/** How long a download may take, in milliseconds. */
const DOWNLOAD_WITHIN_MS = 60_000;
/** GitHub sends to where its archives are, which may send on once. */
const MAX_REDIRECTS = 3;
/** Downloads at a time: each is held in memory, twice for a moment. */
const MAX_DOWNLOADS = 2;
const CANNOT_REACH =
  'GitHub cannot be reached from here; try again later, or send the program as ZIP archive in `file`';

/** What {@link createGithubFetcher} needs. */
export interface GithubDeps {
  /** Without a slash at its end. */
  apiUrl: string;
  egress: EgressPolicy;
}

/**
 * Makes what fetches programs from repositories, by the guarded way out. The token goes to the API alone, never to where it
 * redirects to, and into no message. Throws `invalid_input` naming the field for what GitHub does not have or does not give,
 * `payload_too_large`, `operation_failed`, `rate_limited`, `unavailable`.
 */
export function createGithubFetcher({ apiUrl, egress }: GithubDeps): (source: GithubSource) => Promise<FetchedSource> {
  const dispatcher = createGuardedDispatcher(egress);
  let downloads = 0;
  return async (source) => {
    const repository = repositoryOf(source.url, apiUrl);
    if (downloads >= MAX_DOWNLOADS) {
      const fault = 'Too many programs are fetched from GitHub now; try again';
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

/** `owner/name` of a repository. Throws for one of another host than the API's. */
function repositoryOf(text: string, apiUrl: string): string {
  const refuse = (why: string): HoldfastError => invalidField('source.url', why);
  if (!URL.canParse(text)) throw refuse('must be the URL of a repository, such as https://github.com/owner/name');
  const url = new URL(text);
  const { host } = new URL(apiUrl);
  const expected = apiUrl === GITHUB_API_URL ? 'github.com' : host;
  if (url.username !== '' || url.password !== '') throw refuse('must not carry a token; send it in source.auth');
  if (url.host !== expected) throw refuse(`must be a repository on ${expected}`);
  const parts = url.pathname
    .replace(/\/$/, '')
    .replace(/\.git$/, '')
    .split('/')
    .slice(1);
  if (parts.length !== 2 || !parts.every((part) => /^[\w.-]+$/.test(part) && !/^\.+$/.test(part))) {
    throw refuse(`must be https://${expected}/owner/name, without a branch or a path`);
  }
  return parts.join('/');
}

async function download(dispatcher: Dispatcher, url: URL, token: string | undefined): Promise<Buffer> {
  const signal = AbortSignal.timeout(DOWNLOAD_WITHIN_MS);
  try {
    return await follow(dispatcher, url, token, signal);
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    // What was thrown may quote an address that GitHub has signed.
    if (error instanceof EgressRefusedError) {
      throw new HoldfastError('operation_failed', 'The way out of this installation does not lead to GitHub; list it');
    }
    throw unavailable();
  }
}

async function follow(
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
    const answer = await request(url, { dispatcher, signal, headers });
    const { location } = answer.headers;
    if (answer.statusCode === 200) return await readBounded(answer.body);
    await answer.body.dump();
    if (answer.statusCode < 300 || answer.statusCode > 399 || typeof location !== 'string') {
      throw refusalOf(answer.statusCode, token !== undefined);
    }
    url = new URL(location, url);
    if (url.protocol !== start.protocol) throw unavailable();
  }
  throw unavailable();
}

async function readBounded(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > MAX_SOURCE_BYTES) {
      throw new HoldfastError('payload_too_large', 'source: the repository exceeds the size limit of a program');
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function refusalOf(status: number, hasToken: boolean): HoldfastError {
  if (status === 401) return invalidField('source.auth.token', 'GitHub rejects it');
  if (status === 404 || status === 422) {
    const more = hasToken ? 'or the token may not read it' : 'or it is private: send source.auth';
    return invalidField('source', `GitHub has no such repository or ref, ${more}`, 'not_found');
  }
  if (status === 403 || status === 429) {
    const why = 'its limit for this address or token is used up, or the token may not read the repository';
    return new HoldfastError('operation_failed', `GitHub refused the repository: ${why}`);
  }
  return unavailable();
}

function unavailable(): HoldfastError {
  return new HoldfastError('unavailable', CANNOT_REACH, { retryAfterSeconds: 10 });
}
