import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { ValueError, type Payload, type PayloadCodec } from '@temporalio/common';
import type { SerializationContext } from '@temporalio/common/lib/converter/serialization-context.js';
import protobuf from '@temporalio/proto';

const ENCODING = 'binary/encrypted';
const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
/** Without it Node accepts tags of four bytes, which can be guessed. */
const TAG_BYTES = 16;

const payloadType = protobuf.temporal.api.common.v1.Payload;
const utf8 = new TextEncoder();
const text = new TextDecoder();

/** Keys of an installation: the one that encrypts, then those that only decrypt. Asked again when a payload names another. */
export type PayloadKeySource = () => Promise<readonly Buffer[]>;

interface PayloadKey {
  id: string;
  key: Buffer;
}

/** How long a process goes on encrypting under a key before it looks for a newer one, in milliseconds. */
const KEY_MEMORY_MS = 30_000;

/**
 * Encrypts every payload with AES-256-GCM under the newest key (32 bytes each). The additional data binds it to the key and to the
 * workflow that it belongs to, so that a payload moved to another workflow's history is refused, as is one that is not
 * encrypted at all, but for the one word that the server has of its own. Secrets do not travel here anyway: this protects domains, names and texts of sites.
 */
export function createPayloadCodec(source: Buffer | PayloadKeySource): PayloadCodec {
  const load = Buffer.isBuffer(source) ? () => Promise.resolve([source]) : source;
  let keys: PayloadKey[] = [];
  let until = 0;

  async function reload(): Promise<void> {
    keys = (await load()).map(named);
    until = Date.now() + KEY_MEMORY_MS;
  }

  async function newest(): Promise<PayloadKey> {
    if (Date.now() >= until) await reload();
    const [key] = keys;
    if (key === undefined) throw new ValueError('there is no payload key');
    return key;
  }

  async function byId(id: string): Promise<PayloadKey> {
    const known = (): PayloadKey | undefined => keys.find((key) => key.id === id);
    if (known() === undefined) await reload();
    const key = known();
    if (key === undefined) throw new ValueError('a payload was encrypted under another key: check HOLDFAST_MASTER_KEY');
    return key;
  }

  return {
    encode: async (payloads, context) => {
      const key = await newest();
      return payloads.map((payload) => encrypt(key, payload, placeOf(context)));
    },
    decode: (payloads, context) =>
      Promise.all(
        payloads.map(async (payload) =>
          isServersOwn(payload) ? payload : decrypt(await byId(keyIdOf(payload)), payload, placeOf(context)),
        ),
      ),
  };
}

function named(key: Buffer): PayloadKey {
  if (key.length !== 32) throw new ValueError('the payload key must be 32 bytes');
  return {
    id: createHash('sha256').update('holdfast payload key id').update(key).digest('hex').slice(0, 16),
    key,
  };
}

/** True for a payload that the codec encrypted. */
export function isEncrypted(payload: Payload): boolean {
  return metadataOf(payload, 'encoding') === ENCODING;
}

/** What the server itself says of an activity that was cancelled between two tries: this one word, which says nothing else. */
const NOT_STARTED = '"ACTIVITY_ID_NOT_STARTED"';

function isServersOwn(payload: Payload): boolean {
  return metadataOf(payload, 'encoding') === 'json/plain' && text.decode(payload.data ?? undefined) === NOT_STARTED;
}

function keyIdOf(payload: Payload): string {
  if (!isEncrypted(payload)) throw new ValueError('a payload is not encrypted: it was not written by Holdfast');
  return metadataOf(payload, 'key-id');
}

function metadataOf(payload: Payload, name: string): string {
  return text.decode(payload.metadata?.[name] ?? new Uint8Array());
}

function placeOf(context: SerializationContext | undefined): string | null {
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
    throw new ValueError('a payload belongs to another workflow');
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
