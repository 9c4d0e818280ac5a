import { createHash } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type Kernel from '@onkernel/sdk';
import { fromBufferPromise } from 'yauzl';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEgressPolicy } from '../../egress/policy.ts';
import { createGithubFetcher } from '../../program-sources/github.ts';
import { programArchive } from '../e2e/program-archive.ts';
import { useListeningService, useService } from './service-fixture.ts';

const TOKEN = 'ghp_secretOfTheRepository';
const servers: Server[] = [];

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

/** What both hosts of GitHub were asked: path and authorization. */
const asked: { path: string; authorization: string | undefined }[] = [];
let archive: Buffer;
const code = await listen((request, response) => {
  asked.push({ path: request.url ?? '', authorization: request.headers.authorization });
  response.end(archive);
});
const api = await listen((request, response) => {
  const { url = '', headers } = request;
  asked.push({ path: url, authorization: headers.authorization });
  if (headers.authorization !== `Bearer ${TOKEN}` || !url.endsWith('/owner/name/zipball/feature/one')) {
    response.writeHead(headers.authorization === 'Bearer wrong' ? 401 : 404).end('{"message":"Not Found"}');
    return;
  }
  response.writeHead(302, { location: `${code}/owner/name/legacy.zip?token=signed` }).end();
});
afterAll(() => {
  for (const server of servers) server.close();
});

const begun: string[] = [];
const fixture = useService({
  fetchSource: createGithubFetcher({ apiUrl: api, egress: createEgressPolicy('127.0.0.1') }),
  apps: {
    deploy: async (id) => void begun.push(id),
    invoke: async () => undefined,
    cancel: async () => undefined,
    state: async () => 'none',
  },
});
const service = useListeningService(fixture);
let kernel: Kernel;
beforeAll(async () => {
  kernel = service.client();
  archive = await programArchive({ 'owner-name-1a2b3c/README.md': '', 'owner-name-1a2b3c/app/main.mjs': 'go' }, false);
});

const source = {
  type: 'github',
  url: `${api}/owner/name.git`,
  ref: 'feature/one',
  entrypoint: 'main.mjs',
  path: 'app',
  auth: { method: 'github_token', token: TOKEN },
} satisfies Kernel.DeploymentCreateParams.Source;

it('deploys a folder of a repository, and sends the token only to the GitHub API', async () => {
  const made = await kernel.deployments.create({ source, version: '1' });
  const { auth: _, ...kept } = source;
  const facts = { source_type: 'github', source_url: kept.url, source_ref: kept.ref, source_path: 'app' };
  const checksum = createHash('sha256').update(archive).digest('hex');
  expect(made).toMatchObject({ ...facts, entrypoint_rel_path: 'main.mjs', source_checksum: checksum });
  expect(await kernel.deployments.retrieve(made.id)).toMatchObject(facts);
  expect(begun).toEqual([made.id]);
  expect(asked).toEqual([
    { path: '/repos/owner/name/zipball/feature/one', authorization: `Bearer ${TOKEN}` },
    { path: '/owner/name/legacy.zip?token=signed', authorization: undefined },
  ]);
  const stored = await fixture().store.deployments.archive(made.id);
  const names: string[] = [];
  const zip = await fromBufferPromise(stored ?? Buffer.alloc(0), { lazyEntries: true });
  for await (const entry of zip.eachEntry()) names.push(entry.fileName);
  expect(names).toEqual(['main.mjs']);
  expect(JSON.stringify([made, fixture().logged])).not.toContain(TOKEN);
});

it('accepts each member of the source as a separate field, as the Python client sends it', async () => {
  const body = new FormData();
  const { auth, ...plain } = source;
  for (const [name, value] of Object.entries(plain)) body.append(`source[${name}]`, value);
  for (const [name, value] of Object.entries(auth)) body.append(`source[auth][${name}]`, value);
  const headers = { authorization: `Bearer ${kernel.apiKey}` };
  const answer = await fetch(`${kernel.baseURL}/deployments`, { method: 'POST', body, headers });
  expect([answer.status, await answer.json()]).toMatchObject([201, { source_type: 'github', source_ref: source.ref }]);
});

it.each([
  ['a ref that is missing', { ref: 'nowhere' }, 'source: GitHub has no such repository or ref'],
  [
    'a token that is rejected',
    { auth: { method: 'github_token', token: 'wrong' } },
    'source.auth.token: rejected by GitHub',
  ],
  ['a folder that is missing', { path: 'other' }, 'source.path: the repository has no such folder'],
  ['an entrypoint that is missing', { entrypoint: 'index.ts' }, 'source.entrypoint: no such file'],
  ['another host', { url: 'https://elsewhere.example/owner/name' }, 'source.url: must be a repository on 127.0.0.1'],
  ['a ref that leads elsewhere', { ref: '../../user' }, 'source.ref: must be a branch'],
] as const)('refuses %s, and deploys nothing', async (_, change, message) => {
  const before = begun.length;
  const refused = kernel.deployments.create({ source: { ...source, ...change } });
  await expect(refused).rejects.toMatchObject({ status: 400, message: expect.stringContaining(message) as unknown });
  expect(begun).toHaveLength(before);
});
