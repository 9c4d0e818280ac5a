import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createPayloadCodec } from '../../workers/data-converter/payload-codec.ts';
import { MASTER_KEY, SCOPE, useStore } from './databases.ts';

const context = useStore();
const PLAIN = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('"told"') };
const credential = (name: string) => ({ name, domain: 'v.example', values: { password: name } });

it('rotates every key once, even after a kill, while an older process reads and writes', async () => {
  const { open } = context();
  let masterKeys = [MASTER_KEY];
  const running = open({ reloadMasterKeys: () => Promise.resolve(masterKeys) });
  await running.installationKeys.ensure('temporal-payloads', randomBytes(32));
  const codec = createPayloadCodec(() => running.installationKeys.all('temporal-payloads'));
  const [written] = await codec.encode([PLAIN], undefined);
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, index) => running.credentials.create(SCOPE, credential(`v${index}`))),
  );

  const next = randomBytes(32);
  masterKeys = [next, MASTER_KEY];
  const rotating = { masterKey: next, retiredMasterKeys: [MASTER_KEY] };
  const killed = open(rotating).rotateAllKeys({ batchSize: 2, signal: AbortSignal.timeout(20) });
  await killed.catch(() => undefined);
  made.push(await running.credentials.create(SCOPE, credential('meanwhile')));
  await running.organizations.create({ id: 'org_meanwhile', name: 'Meanwhile', plan: 'free' });

  expect(await open(rotating).rotateAllKeys()).toMatchObject({ broken: [], finished: false });
  const later = open({ ...rotating, clock: () => new Date(Date.now() + 61_000) });
  expect(await later.rotateAllKeys()).toMatchObject({ broken: [], finished: true });
  expect(await later.rotateAllKeys()).toEqual({ resealed: 0, rewrapped: 0, broken: [], finished: true });

  masterKeys = [next];
  const only = open({ masterKey: next });
  for (const reader of [running, only])
    for (const { id, name } of made) expect((await reader.credentials.open(id))?.values).toEqual({ password: name });
  // One new payload key, however often it was begun.
  expect(await only.installationKeys.all('temporal-payloads')).toHaveLength(2);
  const restarted = createPayloadCodec(() => only.installationKeys.all('temporal-payloads'));
  const [opened] = await restarted.decode([written ?? {}], undefined);
  expect(Buffer.from(opened?.data ?? []).toString()).toBe('"told"');
  const [afterwards] = await restarted.encode([PLAIN], undefined);
  expect(afterwards?.metadata?.['key-id']).not.toEqual(written?.metadata?.['key-id']);
  expect((await codec.decode([afterwards ?? {}], undefined))[0]?.data).toEqual(opened?.data);
  await expect(open().installationKeys.all('temporal-payloads')).rejects.toThrow(/master key is not the one/);
});
