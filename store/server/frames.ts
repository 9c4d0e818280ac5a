/** Message types of the Postgres protocol that the front must know, client to server. */
export const CLIENT = {
  query: 'Q',
  parse: 'P',
  bind: 'B',
  describe: 'D',
  close: 'C',
  sync: 'S',
  flush: 'H',
  functionCall: 'F',
  copyData: 'd',
  copyDone: 'c',
  copyFail: 'f',
  terminate: 'X',
} as const;

/** After one of these the server answers (or takes in what it got), so what was collected can be run. */
export const RUN_AFTER: ReadonlySet<string> = new Set([
  CLIENT.query,
  CLIENT.sync,
  CLIENT.flush,
  CLIENT.functionCall,
  CLIENT.copyData,
  CLIENT.copyDone,
  CLIENT.copyFail,
]);

/** Codes in the place of a protocol version in a first message. */
export const SSL_REQUEST = 80877103;
export const GSS_REQUEST = 80877104;
export const CANCEL_REQUEST = 80877102;

/** Largest message that is taken in, in bytes: far above any row of ours. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Whether a connection stands outside a transaction, in one, or in one that failed. */
export type TransactionStatus = 'I' | 'T' | 'E';

/** A typed message with its header. */
export function frame(type: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(5);
  header.write(type, 0, 'latin1');
  header.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([header, body]);
}

/** An error answer that ends the connection. */
export function fatalError(sqlState: string, message: string): Buffer {
  return frame('E', Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${message}\0\0`, 'utf8'));
}

/** The transaction status of the last ReadyForQuery in an answer; null when it holds none. */
export function lastStatus(answer: Buffer): TransactionStatus | null {
  let status: TransactionStatus | null = null;
  for (let at = 0; at + 5 <= answer.length; at += 1 + answer.readInt32BE(at + 1)) {
    if (answer[at] !== 0x5a) continue;
    const letter = String.fromCharCode(answer[at + 5] ?? 0);
    if (letter === 'I' || letter === 'T' || letter === 'E') status = letter;
  }
  return status;
}

/** Cuts a byte stream of a client into messages. The first message has no type byte. */
export class FrameReader {
  #buffer: Buffer = Buffer.alloc(0);

  push(data: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? data : Buffer.concat([this.#buffer, data]);
  }

  /** The next whole message of a connection that has not started yet: its body, after the length. */
  nextUntyped(): Buffer | null {
    return this.#take(0)?.subarray(4) ?? null;
  }

  /** The next whole typed message, header included. */
  nextTyped(): Buffer | null {
    return this.#take(1);
  }

  #take(lengthAt: 0 | 1): Buffer | null {
    if (this.#buffer.length < lengthAt + 4) return null;
    const length = this.#buffer.readInt32BE(lengthAt);
    if (length < 4 || length > MAX_MESSAGE_BYTES) throw new RangeError('A message of the client has a wrong length.');
    const end = lengthAt + length;
    if (this.#buffer.length < end) return null;
    const message = this.#buffer.subarray(0, end);
    this.#buffer = this.#buffer.subarray(end);
    return message;
  }
}

/**
 * Puts a session's mark before the name of a prepared statement, so that sessions which share one backend never meet in a
 * name. Messages without such a name come back as they are.
 * @param onName is told each full name that the message makes.
 */
export function markStatementName(message: Buffer, mark: string, onName: (name: string) => void): Buffer {
  const type = String.fromCharCode(message[0] ?? 0);
  const body = message.subarray(5);
  const nameAt = statementNameAt(type, body);
  if (nameAt === null || body[nameAt] === 0) return message;
  const end = body.indexOf(0, nameAt);
  const name = mark + body.toString('utf8', nameAt, end);
  if (type === CLIENT.parse) onName(name);
  return frame(type, Buffer.concat([body.subarray(0, nameAt), Buffer.from(name, 'utf8'), body.subarray(end)]));
}

function statementNameAt(type: string, body: Buffer): number | null {
  if (type === CLIENT.parse) return 0;
  if (type === CLIENT.bind) return body.indexOf(0) + 1;
  const ofStatement = body[0] === 0x53;
  return (type === CLIENT.describe || type === CLIENT.close) && ofStatement ? 1 : null;
}

/** The first message of a client, as the server itself sends it to learn the greeting. */
export function startUpMessage(): Buffer {
  const body = Buffer.from('\0\x03\0\0user\0postgres\0database\0postgres\0\0', 'latin1');
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([length, body]);
}
