import { setImmediate } from 'node:timers';
import { parentPort } from 'node:worker_threads';
import { BidiMapper } from 'chromium-bidi';
import { BidiParser } from 'chromium-bidi/out/Default/gen/src/bidiTab/BidiParser.js';
import { MapperCdpConnection } from 'chromium-bidi/out/Default/gen/src/cdp/CdpConnection.js';

/**
 * One BiDi session's mapper, in a thread of its own: a fault in it, or a page that floods it with events, ends this
 * thread and nothing else. Messages both ways are `{ bidi }` (objects, the client's side) and `{ cdp }` (texts, the
 * browser's side); those that come have their size in `bytes`, and `{ taken }` tells how many of these bytes no longer wait.
 * Plain JavaScript, because threads start without the loader of TypeScript.
 */
if (parentPort === null) throw new Error('this file runs as a thread');
const port = parentPort;
let onBidi = () => undefined;
let onCdp = () => undefined;
let taken = 0;

port.on('message', (message) => {
  if (taken === 0) setImmediate(tellTaken);
  taken += message.bytes;
  if (message.bidi !== undefined) void onBidi(message.bidi);
  else void onCdp(message.cdp);
});

/** After what the messages have led to at once: that is with the other side by then. */
function tellTaken() {
  port.postMessage({ taken });
  taken = 0;
}

const connection = new MapperCdpConnection({
  setOnMessage: (handler) => {
    onCdp = handler;
  },
  sendMessage: (cdp) => {
    port.postMessage({ cdp });
    return Promise.resolve();
  },
  close: () => port.close(),
});
const transport = {
  setOnMessage: (handler) => {
    onBidi = handler;
  },
  sendMessage: (bidi) => {
    port.postMessage({ bidi });
    return Promise.resolve();
  },
  close: () => port.close(),
};
const client = await connection.createBrowserSession();
await BidiMapper.BidiServer.createAndStart(transport, connection, client, '', new BidiParser());
port.postMessage({ ready: true });
