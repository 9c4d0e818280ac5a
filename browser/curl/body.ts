import { HoldfastError } from '../../contract/errors.ts';
import type { CdpConnection } from '../cdp/connection.ts';

/** Longest body of an answer, in bytes. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** How much is read at a time, in bytes. */
const READ_BYTES = 512 * 1024;

/** Takes the body of an answer that is held, without its encoding of the transfer. Throws `operation_failed` when it is too long. */
export async function readBody(cdp: CdpConnection, page: string, requestId: string): Promise<Buffer> {
  const { stream } = await cdp.send('Fetch.takeResponseBodyAsStream', { requestId }, page);
  const pieces: Buffer[] = [];
  let size = 0;
  for (;;) {
    const { data, base64Encoded = false, eof } = await cdp.send('IO.read', { handle: stream, size: READ_BYTES }, page);
    const piece = Buffer.from(data, base64Encoded ? 'base64' : 'utf8');
    size += piece.length;
    if (size > MAX_BODY_BYTES) {
      throw new HoldfastError('operation_failed', `The response exceeds ${String(MAX_BODY_BYTES)} bytes`);
    }
    pieces.push(piece);
    if (eof) return Buffer.concat(pieces);
  }
}

/** False for a body that broke off, as far as its headers tell. */
export function isWhole(headers: Record<string, string[]>, body: Buffer): boolean {
  const [length] = headers['content-length'] ?? [];
  return length === undefined || headers['content-encoding'] !== undefined || Number(length) === body.length;
}
