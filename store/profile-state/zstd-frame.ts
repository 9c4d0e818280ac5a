/** What a Zstandard frame begins with (RFC 8878). */
const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Frame header: one segment, whose size follows in eight bytes; no checksum, no dictionary. */
const DESCRIPTOR = 0xe0;
/** Largest block, in bytes. */
const BLOCK = 128 * 1024;

/** True for what begins like a Zstandard frame. */
export function isZstd(bytes: Buffer): boolean {
  return bytes.subarray(0, MAGIC.length).equals(MAGIC);
}

/**
 * A Zstandard frame of stored blocks, which every reader of the format takes. Nothing is made smaller: the Node versions that
 * Holdfast runs on do not all have a compressor.
 */
export function zstdFrame(content: Buffer): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(content.length));
  const parts: Buffer[] = [MAGIC, Buffer.from([DESCRIPTOR]), size];
  for (let at = 0; at === 0 || at < content.length; at += BLOCK) {
    const block = content.subarray(at, at + BLOCK);
    const isLast = at + BLOCK >= content.length;
    const header = Buffer.alloc(3);
    header.writeUIntLE((block.length << 3) | (isLast ? 1 : 0), 0, 3);
    parts.push(header, block);
  }
  return Buffer.concat(parts);
}

/** What {@link zstdFrame} was made of; null for every other frame, compressed ones among them. */
export function readZstdFrame(frame: Buffer): Buffer | null {
  let at = MAGIC.length + 1 + 8;
  if (!isZstd(frame) || frame[MAGIC.length] !== DESCRIPTOR) return null;
  const blocks: Buffer[] = [];
  while (at + 3 <= frame.length) {
    const header = frame.readUIntLE(at, 3);
    const block = frame.subarray(at + 3, at + 3 + (header >> 3));
    if ((header & 0b110) !== 0 || block.length !== header >> 3) return null;
    blocks.push(block);
    at += 3 + block.length;
    if ((header & 1) === 1) return Buffer.concat(blocks);
  }
  return null;
}
