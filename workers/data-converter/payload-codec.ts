import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { ValueError, type Payload, type PayloadCodec } from '@temporalio/common';
import type { SerializationContext } from '@temporalio/common/lib/converter/serialization-context.js';
import protobuf from '@temporalio/proto';

const ENCODING = 'binary/encrypted';
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
/** If unset, Node accepts tags of four bytes, which can be guessed. */
const TAG_BYTES = 16;

const payloadType = protobuf.temporal.api.common.v1.Payload;
const utf8 = new TextEncoder();
const text = new TextDecoder();

/** An installation's keys: the one that encrypts, then those that only decrypt. Reloaded when a payload names an unknown one. */
export type PayloadKeySource = () => Promise<readonly Buffer[]>;

interface PayloadKey {
  id: string;
  key: Buffer;
}

/** How long a process keeps using a key before it checks for a newer one, in milliseconds. */
const KEY_CACHE_MS = 30_000;

/**
 * Encrypts every payload with AES-256-GCM under the newest key (32 bytes each). The additional data binds it to the key and the
 * workflow, so that a payload moved to another workflow's history is rejected, as is an unencrypted one other than the
 * server's own marker. Payloads hold no secrets anyway: this protects domains, names and texts of sites.
 */
export function createPayloadCodec(source: Buffer | PayloadKeySource): PayloadCodec {
  const load = Buffer.isBuffer(source) ? () => Promise.resolve([source]) : source;
  let keys: PayloadKey[] = [];
  let cachedUntil = 0;

  async function reload(): Promise<void> {
    keys = (await load()).map(withId);
    cachedUntil = Date.now() + KEY_CACHE_MS;
  }

  async function newestKey(): Promise<PayloadKey> {
    if (Date.now() >= cachedUntil) await reload();
    const [key] = keys;
    if (key === undefined) throw new ValueError('No payload key is configured');
    return key;
  }

  async function keyById(id: string): Promise<PayloadKey> {
    const known = (): PayloadKey | undefined => keys.find((key) => key.id === id);
    if (known() === undefined) await reload();
    const key = known();
    if (key === undefined)
      throw new ValueError('The payload was encrypted with another key; check HOLDFAST_MASTER_KEY');
    return key;
  }

  return {
    encode: async (payloads, context) => {
      const key = await newestKey();
      return payloads.map((payload) => encrypt(key, payload, workflowIdOf(context)));
    },
    decode: (payloads, context) =>
      Promise.all(
        payloads.map(async (payload) =>
          isServerMarker(payload) ? payload : decrypt(await keyById(keyIdOf(payload)), payload, workflowIdOf(context)),
        ),
      ),
  };
}

function withId(key: Buffer): PayloadKey {
  if (key.length !== 32) throw new ValueError('The payload key must be 32 bytes');
  return {
    id: createHash('sha256').update('holdfast payload key id').update(key).digest('hex').slice(0, 16),
    key,
  };
}

/** True for a payload encrypted by this codec. */
export function isEncrypted(payload: Payload): boolean {
  return metadataOf(payload, 'encoding') === ENCODING;
}

/** The server's own details of an activity that was canceled between two attempts. */
const NOT_STARTED = '"ACTIVITY_ID_NOT_STARTED"';

function isServerMarker(payload: Payload): boolean {
  return metadataOf(payload, 'encoding') === 'json/plain' && text.decode(payload.data ?? undefined) === NOT_STARTED;
}

function keyIdOf(payload: Payload): string {
  if (!isEncrypted(payload)) throw new ValueError('The payload is not encrypted, so it was not written by Holdfast');
  return metadataOf(payload, 'key-id');
}

function metadataOf(payload: Payload, name: string): string {
  return text.decode(payload.metadata?.[name] ?? new Uint8Array());
}

function workflowIdOf(context: SerializationContext | undefined): string | null {
  return context?.workflowId ?? null;
}

function encrypt({ id: keyId, key }: PayloadKey, payload: Payload, place: string | null): Payload {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(additionalData(keyId, place ?? ''));
  const sealed = Buffer.concat([cipher.update(payloadType.encode(payload).finish()), cipher.final()]);
  return {
    metadata: { encoding: utf8.encode(ENCODING), 'key-id': utf8.encode(keyId), place: utf8.encode(place ?? '') },
    data: Buffer.concat([iv, cipher.getAuthTag(), sealed]),
  };
}

function decrypt({ id: keyId, key }: PayloadKey, payload: Payload, place: string | null): Payload {
  const written = metadataOf(payload, 'place');
  if (place !== null && written !== '' && written !== place)
    throw new ValueError('The payload belongs to another workflow');
  const data = Buffer.from(payload.data ?? new Uint8Array());
  const decipher = createDecipheriv(CIPHER, key, data.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(additionalData(keyId, written));
  decipher.setAuthTag(data.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const opened = Buffer.concat([decipher.update(data.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
  return payloadType.decode(opened);
}

function additionalData(keyId: string, place: string): Buffer {
  return Buffer.from(JSON.stringify(['holdfast payload', keyId, place]));
}
