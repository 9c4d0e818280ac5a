import { Worker } from 'node:worker_threads';
import { WebSocket } from 'ws';
import { createClientWatch } from '../cdp/client-watch.ts';
import { guardContextOf, judgeCommand } from '../cdp/guard.ts';
import { answerCommand, readCommand, toBuffer, isInternalWorldEvent } from '../cdp/messages.ts';
import type { Session } from '../session/session.ts';
import type { BidiCommand } from './messages.ts';

/** Memory limit of a mapper, in MB: it buffers events until its client has read them. */
const MAX_THREAD_MB = 256;
/** Largest message from the browser, in bytes; Chromium's own limit is close to it. */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
/** The thread's sources are paused while it has this many unprocessed bytes, until half of them are processed. */
const HIGH_WATER_BYTES = 8 * 1024 * 1024;

/** Serves WebDriver BiDi to one client of a session, over its own CDP connection. */
export interface BidiMapper {
  /** `bytes` is the command's size as received. */
  send(command: BidiCommand, bytes: number): void;
  /** Ends the thread and the connection to the browser. */
  close(): void;
}

interface BidiMapperEvents {
  onMessage(message: object): void;
  /** Called with true when too many commands are pending: read no more until it is called with false. */
  onBackpressure(isHigh: boolean): void;
  /** Called once, for any reason. */
  onClose(): void;
}

type FromThread = { ready: true } | { processed: number } | { cdp: string } | { bidi: object };

/**
 * Starts a mapper and resolves when it accepts commands. Its CDP commands pass the same guard as any client's. Rejects if it
 * cannot start.
 */
export function startBidiMapper(session: Session, events: BidiMapperEvents): Promise<BidiMapper> {
  const browser = new WebSocket(session.chromium.wsEndpoint, {
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handshakeTimeout: CONNECT_TIMEOUT_MS,
  });
  const thread = new Worker(new URL('./mapper-thread.mjs', import.meta.url), {
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_THREAD_MB },
  });
  const watch = createClientWatch(session);
  const context = guardContextOf(session);
  let closed = false;
  // If the page or the client sends more than the mapper can process, both are paused.
  const backpressure = trackBackpressure((isHigh) => {
    if (closed) return;
    if (isHigh) browser.pause();
    else browser.resume();
    events.onBackpressure(isHigh);
  });
  const toThread = (message: { cdp: string } | { bidi: object }, bytes: number): void => {
    if (closed) return;
    thread.postMessage({ ...message, bytes });
    backpressure.sent(bytes);
  };

  return new Promise((resolve, reject) => {
    const close = (): void => {
      if (closed) return;
      closed = true;
      watch.closed();
      browser.terminate();
      void thread.terminate();
      reject(new Error('The BiDi mapper has exited'));
      events.onClose();
    };
    browser.on('close', close).on('error', close);
    thread.on('error', close).on('exit', close);

    const opened = new Promise<void>((open) => browser.once('open', open));
    const toBrowser = (text: string): void => {
      const command = readCommand(text);
      if (command === null) return;
      const verdict = judgeCommand(command, context);
      if (verdict.kind === 'refuse') {
        const refusal = { error: { code: -32_000, message: verdict.message } };
        const cdp = answerCommand(command, refusal);
        toThread({ cdp }, cdp.length);
      } else if (verdict.kind === 'disconnect') {
        close();
      } else {
        watch.sent(verdict.command);
        void opened.then(() => {
          browser.send(JSON.stringify(verdict.command));
        });
      }
    };
    browser.on('message', (data) => {
      if (isInternalWorldEvent(data)) return;
      watch.received(data);
      const text = toBuffer(data);
      toThread({ cdp: text.toString('utf8') }, text.length);
    });
    thread.on('message', (message: FromThread) => {
      if ('cdp' in message) toBrowser(message.cdp);
      else if ('bidi' in message) events.onMessage(message.bidi);
      else if ('processed' in message) backpressure.processed(message.processed);
      else resolve({ close, send: (bidi, bytes) => toThread({ bidi }, bytes) });
    });
  });
}

/**
 * Tracks the bytes a thread has been sent and has not processed: they are outside of any heap, and no limit of the thread
 * covers them. `onChange` is called with true when there are too many, and with false when there is room again.
 */
function trackBackpressure(onChange: (isHigh: boolean) => void) {
  let pending = 0;
  let isHigh = false;
  const set = (value: boolean): void => {
    if (isHigh === value) return;
    isHigh = value;
    onChange(value);
  };
  return {
    sent: (bytes: number): void => {
      pending += bytes;
      if (pending > HIGH_WATER_BYTES) set(true);
    },
    processed: (bytes: number): void => {
      pending -= bytes;
      if (pending < HIGH_WATER_BYTES / 2) set(false);
    },
  };
}
