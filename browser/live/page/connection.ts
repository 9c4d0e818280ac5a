import type { ViewerMessage, ViewMessage } from '../messages.ts';

/** `lost` and `ended` are final. */
export type ConnectionState = 'connecting' | 'live' | 'lost' | 'ended';

interface ConnectionEvents {
  onFrame(data: ArrayBuffer): void;
  onMessage(message: ViewMessage): void;
  onState(state: ConnectionState): void;
}

/** Reconnect delays, in milliseconds. */
const RETRY_DELAYS_MS = [500, 1000, 2000, 4000, 8000];

/** Opens a websocket to the page's own URL; reconnects when it breaks, and eventually gives up. */
export function connect(address: URL, events: ConnectionEvents): { send: (message: ViewerMessage) => void } {
  const url = new URL(address);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.hash = '';
  let socket: WebSocket;
  let failures = 0;
  let ended = false;

  const open = (): void => {
    events.onState('connecting');
    socket = new WebSocket(url);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      failures = 0;
      events.onState('live');
    };
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data !== 'string') {
        events.onFrame(data);
        return;
      }
      const message = JSON.parse(data) as ViewMessage;
      if (message.type === 'ended') ended = true;
      events.onMessage(message);
    };
    socket.onclose = () => {
      if (ended) {
        events.onState('ended');
        return;
      }
      const delay = RETRY_DELAYS_MS[failures];
      failures += 1;
      if (delay === undefined) events.onState('lost');
      else setTimeout(open, delay);
    };
  };
  open();
  return {
    send: (message) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    },
  };
}
