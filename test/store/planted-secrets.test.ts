import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { startChild } from '../../start/child-process.ts';
import { postgresServer } from '../../start/postgres/server.ts';
import { socketDirOf } from '../../start/postgres/socket.ts';
import { createStore } from '../../store/store.ts';
import { newPasskey } from '../setup/passkey.ts';
import { addConnection, documentOf, MASTER_KEY, SCOPE } from './databases.ts';

/** Every spelling in which a secret could lie in a file. Base64 differs by where in three bytes the secret starts. */
function spellings(secret: string): Buffer[] {
  const bytes = Buffer.from(secret, 'utf8');
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    return text.slice(shift === 0 ? 0 : 4, -4);
  });
  const texts = [
    secret,
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  ];
  const utf16 = Buffer.from(secret, 'utf16le');
  return [...texts.map((text) => Buffer.from(text, 'utf8')), utf16, Buffer.from(utf16).swap16()];
}

const PAGE_BYTES = 8192;

/** All bytes below a data folder that the empty database did not have in the same place (those cannot be secrets). */
function bytesWritten(dataDir: string, emptyDir: string): Buffer {
  const pages = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => {
      const path = join(entry.parentPath, entry.name);
      const empty = join(emptyDir, relative(dataDir, path));
      const before = existsSync(empty) ? readFileSync(empty) : Buffer.alloc(0);
      const after = readFileSync(path);
      return Array.from({ length: Math.ceil(after.length / PAGE_BYTES) }, (_, index) => index * PAGE_BYTES)
        .filter((at) => !after.subarray(at, at + PAGE_BYTES).equals(before.subarray(at, at + PAGE_BYTES)))
        .map((at) => after.subarray(at, at + PAGE_BYTES));
    });
  return Buffer.concat(pages);
}

/** Names of the secrets that lie in a data folder in some spelling. */
function secretsIn(dataDir: string, emptyDir: string, secrets: Record<string, string>): string[] {
  const bytes = bytesWritten(dataDir, emptyDir);
  return Object.entries(secrets)
    .filter(([, secret]) => spellings(secret).some((needle) => bytes.includes(needle)))
    .map(([name]) => name);
}

it('contains no planted secret in any byte of the data folder, including its log', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hf-planted-'));
  const dataDir = join(folder, 'data');
  const emptyDir = join(folder, 'empty');
  const spec = await postgresServer(dataDir);
  cpSync(dataDir, emptyDir, { recursive: true });
  const server = await startChild(spec, folder);
  await server.ready;
  const store = createStore({ connection: { socketDir: socketDirOf(dataDir) }, masterKey: MASTER_KEY });
  await store.migrate();
  const random = (): string => randomBytes(12).toString('base64');
  const secrets: Record<string, string> = {
    setUpKey: `operator-${random()}`,
    masterKey: MASTER_KEY.toString('latin1'),
    password: `p&"ä\\ ${random()}`,
    patched: `<密>${random()}`,
    merged: `%_'${random()}`,
    long: random().repeat(256),
    totpSecret: randomBytes(20).toString('hex').toUpperCase(),
    submitted: `s/+ ${random()}`,
    cookie: `session=${random()}`,
    proxyPassword: `x"&ß ${random()}`,
    deletedProxyPassword: `y'<é ${random()}`,
  };
  const passkey = newPasskey('planted');
  secrets['passkey'] = passkey.private_key;
  const secret = (name: string): string => secrets[name] ?? '';

  await store.bootstrap({ plan: 'enterprise', apiKey: secret('setUpKey') });
  const made = await store.apiKeys.create(SCOPE, {
    name: 'planted',
    expiresAt: null,
    projectId: SCOPE.projectId,
    createdBy: { id: 'usr', email: 'a@example.com', name: null },
  });
  secrets['apiKey'] = made.key;
  const { id } = await store.credentials.create(SCOPE, {
    name: 'planted',
    domain: 'p.example',
    values: { password: secret('password'), long: secret('long') },
    totpSecret: secret('totpSecret'),
    passkeys: [passkey],
  });
  await store.credentials.patch(SCOPE, id, { values: { other: secret('patched') } });
  const profile = await store.profiles.findOrCreate(SCOPE, 'planted');
  await store.profiles.save(SCOPE.projectId, profile.id, () => ({ cookies: [secret('cookie')] }));
  const proxy = {
    name: 'planted',
    protocol: 'http' as const,
    host: 'p.example',
    port: 8080,
    username: 'u',
    bypassHosts: [],
  };
  await store.proxies.create(SCOPE, { ...proxy, password: secret('proxyPassword') });
  const deleted = await store.proxies.create(SCOPE, { ...proxy, password: secret('deletedProxyPassword') });
  await store.proxies.remove(SCOPE, deleted.id);
  const connectionId = await addConnection(store);
  const { submissionId } = await store.submissions.seal({
    connectionId,
    interactionId: 'int',
    values: { password: secret('submitted') },
    expiresAt: new Date(Date.now() + 60_000),
  });
  expect((await store.submissions.open(submissionId))?.values).toEqual({ password: secret('submitted') });
  await store.submissions.destroy(submissionId);

  // Found on purpose: what lies in a document is in the folder, so the search works.
  secrets['plantedInClear'] = `clear ${random()}`;
  const document = documentOf(connectionId, 2, { post_login_url: secret('plantedInClear') });
  await store.connections.record({ id: connectionId, revision: 2, document, createdAt: new Date() });

  expect(secretsIn(dataDir, emptyDir, secrets)).toEqual(['plantedInClear']);
  await store.close();
  await server.stop(() => undefined);
  expect(secretsIn(dataDir, emptyDir, secrets)).toEqual(['plantedInClear']);
  rmSync(folder, { recursive: true, force: true });
}, 120_000);
