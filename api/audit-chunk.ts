import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import type { AuditLogEntry } from '../contract/audit-logs.ts';

/** Rows that are read from the store at a time. */
const ROWS_A_BATCH = 1000;
/** A chunk takes no further batch once it has so many bytes of JSON: fifty thousand rows of the usual length have half of it. */
const BYTES_A_CHUNK = 32 * 1024 * 1024;

/** Part of an export. Its headers are known before its first byte is sent: readers check its digest. */
export interface AuditChunk {
  rows: number;
  /** Length of the body, in bytes. */
  bytes: number;
  /** Of the body, in hex. */
  sha256: string;
  /** Where the next chunk begins; null when none follows. */
  next: string | null;
  body: Readable;
}

/** What is asked of a chunk. */
export interface AuditChunkRequest {
  format: 'jsonl' | 'jsonl.gz';
  /** Most rows. */
  limit: number;
  after: string | undefined;
}

type ReadBatch = (limit: number, after: string | undefined) => Promise<{ rows: AuditLogEntry[]; next: string | null }>;

/**
 * Reads a chunk batch by batch. Memory holds one batch, and what the others are compressed to: some forty bytes a row. As plain
 * lines it is unpacked again while it is sent.
 */
export async function readAuditChunk(
  read: ReadBatch,
  { format, limit, after }: AuditChunkRequest,
): Promise<AuditChunk> {
  const gzip = createGzip();
  const packed: Buffer[] = [];
  const plainHash = createHash('sha256');
  gzip.on('data', (part: Buffer) => packed.push(part));
  let rows = 0;
  let plainBytes = 0;
  let next = after ?? null;
  do {
    const batch = await read(Math.min(ROWS_A_BATCH, limit - rows), next ?? undefined);
    const lines = Buffer.from(batch.rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    rows += batch.rows.length;
    plainBytes += lines.length;
    ({ next } = batch);
    plainHash.update(lines);
    if (!gzip.write(lines)) await once(gzip, 'drain');
  } while (next !== null && rows < limit && plainBytes < BYTES_A_CHUNK);
  gzip.end();
  await once(gzip, 'end');
  if (format === 'jsonl') {
    const body = Readable.from(packed).pipe(createGunzip());
    return { rows, bytes: plainBytes, sha256: plainHash.digest('hex'), next, body };
  }
  const hash = createHash('sha256');
  for (const part of packed) hash.update(part);
  const bytes = packed.reduce((sum, part) => sum + part.length, 0);
  return { rows, bytes, sha256: hash.digest('hex'), next, body: Readable.from(packed) };
}
