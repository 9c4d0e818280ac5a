import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createPool, openDatabase } from '../../store/database.ts';
import { deriveKey } from '../../store/vault/master-key.ts';
import { newKeyId, seal, SealBroken, unseal, type SealedPlace } from '../../store/vault/seal.ts';
import { addConnection, MASTER_KEY, SCOPE, useStore } from './databases.ts';

const PLACE: SealedPlace = { table: 'credentials', column: 'sealed_values', rowId: 'cred_1' };

describe('a sealed value', () => {
  const key = { id: newKeyId(), key: randomBytes(32) };
  const blob = seal(key, PLACE, Buffer.from('correct horse'));

  it('opens in its place, and has a different ciphertext every time', () => {
    expect(unseal(key, PLACE, blob).toString()).toBe('correct horse');
    expect(seal(key, PLACE, Buffer.from('correct horse')).equals(blob)).toBe(false);
    expect(unseal(key, PLACE, seal(key, PLACE, Buffer.alloc(0)))).toHaveLength(0);
  });

  it('is rejected if any bit is changed', () => {
    for (let at = 0; at < blob.length; at += 1)
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = Buffer.from(blob);
        changed.writeUInt8((changed[at] ?? 0) ^ (1 << bit), at);
        expect(() => unseal(key, PLACE, changed)).toThrow(SealBroken);
      }
  });

  it('is rejected if truncated, extended, in another place or with another key', () => {
    for (let length = 0; length < blob.length; length += 1)
      expect(() => unseal(key, PLACE, blob.subarray(0, length))).toThrow(SealBroken);
    expect(() => unseal(key, PLACE, Buffer.concat([blob, Buffer.alloc(1)]))).toThrow(SealBroken);
    for (const place of [
      { ...PLACE, rowId: 'cred_2' },
      { ...PLACE, column: 'sealed_totp_secret' },
      { table: 'credential', column: 'ssealed_values', rowId: 'cred_1' },
    ])
      expect(() => unseal(key, place, blob)).toThrow(SealBroken);
    expect(() => unseal({ id: newKeyId(), key: key.key }, PLACE, blob)).toThrow(SealBroken);
    expect(() => unseal({ id: key.id, key: randomBytes(32) }, PLACE, blob)).toThrow(SealBroken);
  });
});

describe('derived keys', () => {
  it('differ by purpose and master key, and are stable', () => {
    const master = Buffer.alloc(32, 1);
    expect(deriveKey(master, 'a')).toEqual(deriveKey(master, 'a'));
    expect(deriveKey(master, 'a')).not.toEqual(deriveKey(master, 'b'));
    expect(deriveKey(Buffer.alloc(32, 2), 'a')).not.toEqual(deriveKey(master, 'a'));
    expect(() => deriveKey(Buffer.alloc(16), 'x')).toThrow(RangeError);
  });
});

describe('the vault', () => {
  const context = useStore();

  const credential = (name: string) => ({ name, domain: 'v.example', values: { password: name } });

  it('rejects a ciphertext that was moved to another row or changed in the table', async () => {
    const { store, database } = context();
    const first = await store.credentials.create(SCOPE, credential('v1'));
    const second = await store.credentials.create(SCOPE, credential('v2'));
    const db = openDatabase(createPool(database.connection, 1));
    await sql`update credentials set sealed_values = (select sealed_values from credentials where id = ${first.id})
      where id = ${second.id}`.execute(db);
    await expect(store.credentials.open(second.id)).rejects.toThrow(SealBroken);
    await sql`update credentials set sealed_values = set_byte(sealed_values, 40, get_byte(sealed_values, 40) # 1)
      where id = ${first.id}`.execute(db);
    await expect(store.credentials.open(first.id)).rejects.toThrow(SealBroken);
    await db.destroy();
    for (const { id } of [first, second]) await store.credentials.remove(SCOPE, id);
  });

  it('reports a wrong master key', async () => {
    const { open } = context();
    const stranger = open({ masterKey: randomBytes(32) });
    await expect(stranger.bootstrap({ plan: 'free' })).rejects.toThrow(/master key is not the one/);
  });

  it('rotates the master key during concurrent reads and writes', async () => {
    const { store, open } = context();
    const before = await store.credentials.create(SCOPE, credential('before'));
    const connectionId = await addConnection(store);
    const submission = {
      connectionId,
      interactionId: 'int',
      values: { a: 'b' },
      expiresAt: new Date(Date.now() + 6e4),
    };
    const { submissionId } = await store.submissions.seal(submission);
    const nextKey = randomBytes(32);
    const next = open({ masterKey: nextKey, retiredMasterKeys: [MASTER_KEY] });
    expect(await next.rotateMasterKey()).toEqual({ rewrapped: 1 });
    expect(await next.rotateMasterKey()).toEqual({ rewrapped: 0 });
    const only = open({ masterKey: nextKey });
    await only.bootstrap({ plan: 'enterprise' });
    expect((await only.credentials.open(before.id))?.values).toEqual({ password: 'before' });
    expect((await only.submissions.open(submissionId))?.values).toEqual({ a: 'b' });
    expect((await store.credentials.open(before.id))?.values).toEqual({ password: 'before' });
    await expect(open().bootstrap({ plan: 'enterprise' })).rejects.toThrow(/master key is not the one/);
    expect(await open({ retiredMasterKeys: [nextKey] }).rotateMasterKey()).toEqual({ rewrapped: 1 });
  });

  it('rotates the key of an organization row by row, and resumes after a kill', async () => {
    const { store, open, database } = context();
    const made = await Promise.all(
      Array.from({ length: 30 }, (_, index) => store.credentials.create(SCOPE, credential(`rotate ${index}`))),
    );
    const { id: profileId } = await store.profiles.findOrCreate(SCOPE, 'rotate');
    await store.profiles.save(SCOPE.projectId, profileId, () => ({ cookie: 'c' }));
    const connectionId = await addConnection(store);
    const submission = {
      connectionId,
      interactionId: 'int',
      values: { a: 'b' },
      expiresAt: new Date(Date.now() + 6e4),
    };
    const { submissionId } = await store.submissions.seal(submission);
    const stopped = open().rotateOrganizationKey(SCOPE.organizationId, {
      batchSize: 3,
      signal: AbortSignal.timeout(15),
    });
    await stopped.catch(() => undefined);
    // Written while half is done, by a process that still remembers the former key.
    const meanwhile = await store.credentials.create(SCOPE, credential('meanwhile'));
    const tampered = await store.credentials.create(SCOPE, credential('tampered'));
    const db = openDatabase(createPool(database.connection, 1));
    await sql`update credentials set sealed_values = set_byte(sealed_values, 40, get_byte(sealed_values, 40) # 1)
      where id = ${tampered.id}`.execute(db);
    const rotation = await open().rotateOrganizationKey(SCOPE.organizationId, { batchSize: 7 });
    expect(rotation.resealed).toBeGreaterThan(0);
    expect(rotation).toMatchObject({ finished: false, broken: [{ table: 'credentials', rowId: tampered.id }] });
    await store.credentials.remove(SCOPE, tampered.id);
    const later = open({ clock: () => new Date(Date.now() + 61_000) });
    expect(await later.rotateOrganizationKey(SCOPE.organizationId)).toMatchObject({ finished: true });
    const { rows } = await sql<{ key: string }>`select encode(substring(sealed_values from 2 for 16), 'hex') as key
      from credentials where name like 'rotate %' group by 1`.execute(db);
    expect(rows).toHaveLength(1);
    const keys = await db.selectFrom('organization_keys').select('active').execute();
    expect(keys).toEqual([{ active: true }]);
    await db.destroy();
    for (const reader of [store, open()]) {
      for (const { id, name } of [...made, meanwhile])
        expect((await reader.credentials.open(id))?.values).toEqual({ password: name });
      expect((await reader.profiles.load(SCOPE.projectId, { id: profileId }))?.state).toEqual({ cookie: 'c' });
      expect((await reader.submissions.open(submissionId))?.values).toEqual({ a: 'b' });
    }
  });
});
