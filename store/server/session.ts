import type { Socket } from 'node:net';
import {
  CANCEL_REQUEST,
  CLIENT,
  fatalError,
  FrameReader,
  GSS_REQUEST,
  markStatementName,
  RUN_AFTER,
  SSL_REQUEST,
} from './frames.ts';

/** One client of the front: what it wants run, and what must be undone when it goes. */
export interface Session {
  /** Whole pieces of the protocol, each ended by a message that the server answers. */
  chunks: Buffer[];
  /** Full names of its prepared statements. */
  statements: Set<string>;
  closed: boolean;
  idleTimer: NodeJS.Timeout | undefined;
  answer(bytes: Buffer): void;
  /** Says a last word and hangs up. Idempotent. */
  end(lastWord?: Buffer): void;
}

/** What a session reports to the front. */
export interface SessionEvents {
  /** A chunk is ready, or the session has just closed. */
  onChange(session: Session): void;
  onClose(session: Session): void;
}

/** Major version 3 of the protocol, in the upper half of a first message's code. */
const PROTOCOL_MAJOR = 3;

let sessionCount = 0;

/** A session over a socket. `greeting` answers the client's first message. */
export function createSocketSession(socket: Socket, greeting: Buffer, events: SessionEvents): Session {
  const reader = new FrameReader();
  const mark = `s${(sessionCount += 1)}_`;
  let started = false;
  let collected: Buffer[] = [];

  const session: Session = {
    chunks: [],
    statements: new Set(),
    closed: false,
    idleTimer: undefined,
    answer: (bytes) => {
      if (!session.closed) socket.write(bytes);
    },
    end: (lastWord) => {
      if (session.closed) return;
      session.closed = true;
      session.chunks = [];
      clearTimeout(session.idleTimer);
      if (lastWord !== undefined) socket.write(lastWord);
      socket.end(() => socket.destroy());
      events.onClose(session);
      events.onChange(session);
    },
  };

  function readStart(): boolean {
    const body = reader.nextUntyped();
    if (body === null) return false;
    const code = body.length < 4 ? 0 : body.readInt32BE(0);
    if (code === SSL_REQUEST || code === GSS_REQUEST) socket.write('N');
    // There is nothing that could be interrupted: one statement runs at a time, and none for long.
    else if (code === CANCEL_REQUEST) session.end();
    else if (code >>> 16 !== PROTOCOL_MAJOR) session.end(fatalError('08P01', 'Unknown protocol version.'));
    else {
      started = true;
      session.answer(greeting);
    }
    return true;
  }

  function readMessage(): boolean {
    const message = reader.nextTyped();
    if (message === null) return false;
    const type = String.fromCharCode(message[0] ?? 0);
    if (type === CLIENT.terminate) {
      session.end();
      return false;
    }
    collected.push(markStatementName(message, mark, (name) => session.statements.add(name)));
    if (RUN_AFTER.has(type)) {
      session.chunks.push(Buffer.concat(collected));
      collected = [];
      events.onChange(session);
    }
    return true;
  }

  socket.on('data', (data) => {
    reader.push(data);
    try {
      while (!session.closed && (started ? readMessage() : readStart()));
    } catch {
      session.end(fatalError('08P01', 'The client does not speak the protocol.'));
    }
  });
  socket.on('error', () => session.end());
  socket.on('close', () => session.end());
  return session;
}

/** A session of the server's own: one statement, no socket. */
export function createOwnSession(statement: Buffer, onAnswer: () => void): Session {
  return {
    chunks: [statement],
    statements: new Set(),
    closed: false,
    idleTimer: undefined,
    answer: onAnswer,
    end: () => undefined,
  };
}
