import { setImmediate } from 'node:timers';
import { parentPort } from 'node:worker_threads';
import { BidiMapper } from 'chromium-bidi';
import { BidiParser } from 'chromium-bidi/out/Default/gen/src/bidiTab/BidiParser.js';
import { MapperCdpConnection } from 'chromium-bidi/out/Default/gen/src/cdp/CdpConnection.js';

/**
 * The mapper of one BiDi session, in its own thread, so that a fault in it or a page that floods it with events ends only this
 * thread. Messages in both directions are `{ bidi }` (objects, client side) and `{ cdp }` (texts, browser side); incoming
 * ones carry their size in `bytes`, and `{ processed }` reports how many of these bytes were handled. Plain JavaScript,
 * because threads start without the TypeScript loader.
 */
if (parentPort === null) throw new Error('This file must run as a worker thread');
const port = parentPort;
let onBidi = () => undefined;
let onCdp = () => undefined;
let processed = 0;

port.on('message', (message) => {
  if (processed === 0) setImmediate(reportProcessed);
  processed += message.bytes;
  if (message.bidi !== undefined) void onBidi(message.bidi);
  else void onCdp(message.cdp);
});

/** Runs after the messages' immediate responses have been posted. */
function reportProcessed() {
  port.postMessage({ processed });
  processed = 0;
}

/** Posts messages as `{ [kind]: message }`. */
const createTransport = (kind, setOnMessage) => ({
  setOnMessage,
  sendMessage: (message) => {
    port.postMessage({ [kind]: message });
    return Promise.resolve();
  },
  close: () => port.close(),
});
const connection = new MapperCdpConnection(createTransport('cdp', (handler) => (onCdp = handler)));
const transport = createTransport('bidi', (handler) => (onBidi = handler));
const client = await connection.createBrowserSession();
await BidiMapper.BidiServer.createAndStart(transport, connection, client, '', new BidiParser());
port.postMessage({ ready: true });
