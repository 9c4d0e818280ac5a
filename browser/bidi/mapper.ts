import { Worker } from 'node:worker_threads';
import { WebSocket } from 'ws';
import { createClientWatch } from '../cdp/client-watch.ts';
import { judgeCommand } from '../cdp/guard.ts';
import { guardContextOf } from '../cdp/guard-context.ts';
import { answerCommand, readCommand, toText, isInternalWorldEvent } from '../cdp/messages.ts';
import type { Session } from '../session/session.ts';
import type { BidiCommand } from './client-messages.ts';

/** Memory a mapper may take, in MB: it keeps what a page says until its client has read it. */
const MAX_THREAD_MB = 256;
/** Largest message from the browser, in bytes: Chromium's own bound is near it. */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;
/** Longest wait for Chromium to take a connection, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Speaks WebDriver BiDi for one client of a session, over a protocol connection of its own. */
export interface BidiMapper {
  /** `bytes` is the size that the command came in. */
  send(command: BidiCommand, bytes: number): void;
  /** Ends its thread and its connection to the browser. */
  close(): void;
}

/** What comes back. `onClose` is called once, however it ends. */
export interface BidiMapperEvents {
  onMessage(message: object): void;
  /** With true when it has too many commands before it: none should be read until it is called with false. */
  onBehind(behind: boolean): void;
  onClose(): void;
}

type FromThread = { ready: true } | { taken: number } | { cdp: string } | { bidi: object };

/**
 * Starts a mapper and resolves when it takes commands. What it wants from the browser is judged as the commands of any
 * client are: files of the host, other schemes, proxies and extensions stay out of reach. Rejects when it cannot start.
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
  // A page says more than the mapper can follow, or a client asks more: both wait, and nobody else does.
  const untaken = trackBackpressure((behind) => {
    if (closed) return;
    if (behind) browser.pause();
    else browser.resume();
    events.onBehind(behind);
  });
  const toThread = (message: { cdp: string } | { bidi: object }, bytes: number): void => {
    if (closed) return;
    thread.postMessage({ ...message, bytes });
    untaken.sent(bytes);
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
      const text = toText(data);
      toThread({ cdp: text.toString('utf8') }, text.length);
    });
    thread.on('message', (message: FromThread) => {
      if ('cdp' in message) toBrowser(message.cdp);
      else if ('bidi' in message) events.onMessage(message.bidi);
      else if ('taken' in message) untaken.taken(message.taken);
      else {
        resolve({
          close,
          send: (bidi, bytes) => {
            toThread({ bidi }, bytes);
          },
        });
      }
    });
  });
}

/** When a thread has this much before it, in bytes, nothing more is read for it until half of it is taken. */
const HIGH_WATER_BYTES = 8 * 1024 * 1024;

/** What a thread has been sent and has not taken yet: it waits outside of any heap, and no limit of the thread holds it. */
export interface Backpressure {
  /** Notes a message to the thread. */
  sent(bytes: number): void;
  /** Notes that the thread has taken so many bytes of them. */
  taken(bytes: number): void;
}

/** `onBehind` is called with true when too much waits, and with false when what fills it can be read again. */
function trackBackpressure(onBehind: (behind: boolean) => void): Backpressure {
  let waiting = 0;
  let behind = false;
  const turn = (to: boolean): void => {
    if (behind === to) return;
    behind = to;
    onBehind(to);
  };
  return {
    sent: (bytes) => {
      waiting += bytes;
      if (waiting > HIGH_WATER_BYTES) turn(true);
    },
    taken: (bytes) => {
      waiting -= bytes;
      if (waiting < HIGH_WATER_BYTES / 2) turn(false);
    },
  };
}
