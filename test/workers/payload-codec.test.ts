import type { Payload } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { createPayloadCodec } from '../../workers/data-converter/payload-codec.ts';

const codec = createPayloadCodec(Buffer.alloc(32, 1));
const HERE = { type: 'workflow', namespace: 'default', workflowId: 'connection-a' } as const;
const ELSEWHERE = { ...HERE, workflowId: 'connection-b' };
const PLAIN: Payload = {
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from('{"domain":"bank.example"}'),
};

async function sealed(): Promise<Payload> {
  const [payload] = await codec.encode([PLAIN], HERE);
  if (payload === undefined) throw new Error('nothing was encoded');
  return payload;
}

describe('the payload codec', () => {
  it('decrypts what it encrypted, and reveals nothing of it', async () => {
    const payload = await sealed();
    expect(Buffer.from(payload.data ?? []).toString('latin1')).not.toContain('bank');
    const [opened] = await codec.decode([payload], HERE);
    expect(Buffer.from(opened?.data ?? []).toString()).toBe('{"domain":"bank.example"}');
  });

  it('rejects every flipped byte', async () => {
    const payload = await sealed();
    for (let at = 0; at < (payload.data?.length ?? 0); at += 1) {
      const data = Buffer.from(payload.data ?? []);
      data[at] = (data[at] ?? 0) ^ 1;
      await expect(async () => codec.decode([{ ...payload, data }], HERE)).rejects.toThrow();
    }
  });

  it('encrypts with the newest key, and decrypts payloads of earlier and later keys', async () => {
    let keys = [Buffer.alloc(32, 1)];
    const running = createPayloadCodec(() => Promise.resolve(keys));
    const [before] = await running.encode([PLAIN], HERE);
    keys = [Buffer.alloc(32, 2), ...keys];
    const restarted = createPayloadCodec(() => Promise.resolve(keys));
    const [after] = await restarted.encode([PLAIN], HERE);
    expect(after?.metadata?.['key-id']).not.toEqual(before?.metadata?.['key-id']);
    for (const reader of [running, restarted]) {
      const opened = await reader.decode([before ?? {}, after ?? {}], HERE);
      expect(opened.map(({ data }) => Buffer.from(data ?? []).toString())).toEqual(
        Array(2).fill('{"domain":"bank.example"}'),
      );
    }
    // After seeing a newer key, it encrypts with that too.
    const [later] = await running.encode([PLAIN], HERE);
    expect(later?.metadata?.['key-id']).toEqual(after?.metadata?.['key-id']);
  });

  it('rejects a payload of another workflow, of another key, or in clear', async () => {
    const payload = await sealed();
    await expect(async () => codec.decode([payload], ELSEWHERE)).rejects.toThrow(/another workflow/);
    const moved = { ...payload, metadata: { ...payload.metadata, place: Buffer.from('connection-b') } };
    await expect(async () => codec.decode([moved], ELSEWHERE)).rejects.toThrow();
    const other = createPayloadCodec(Buffer.alloc(32, 2));
    await expect(async () => other.decode([payload], HERE)).rejects.toThrow(/another key/);
    await expect(async () => codec.decode([PLAIN], HERE)).rejects.toThrow(/not encrypted/);
  });

  it("accepts the server's own marker in clear, and nothing similar", async () => {
    const said = (data: string): Payload => ({ ...PLAIN, data: Buffer.from(data) });
    const word = said('"ACTIVITY_ID_NOT_STARTED"');
    expect(await codec.decode([word], HERE)).toEqual([word]);
    for (const other of [
      '"ACTIVITY_ID_NOT_STARTED" ',
      'ACTIVITY_ID_NOT_STARTED',
      '"activity_id_not_started"',
      '""',
      '',
    ])
      await expect(async () => codec.decode([said(other)], HERE)).rejects.toThrow(/not encrypted/);
    const raw = { ...word, metadata: { encoding: Buffer.from('binary/plain') } };
    await expect(async () => codec.decode([raw], HERE)).rejects.toThrow(/not encrypted/);
  });
});
