import type { ViewerMessage, ViewMessage } from '../messages.ts';

/** How it stands: `lost` and `ended` are final. */
export type ConnectionState = 'connecting' | 'live' | 'lost' | 'ended';

export interface ConnectionEvents {
  onPicture(data: ArrayBuffer): void;
  onMessage(message: ViewMessage): void;
  onState(state: ConnectionState): void;
}

/** Pauses before another try, in milliseconds. */
const RETRY_MS = [500, 1000, 2000, 4000, 8000];

/** Keeps a websocket to the page's own address; tries again when the line breaks, and gives up in the end. */
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
        events.onPicture(data);
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
      const pause = RETRY_MS[failures];
      failures += 1;
      if (pause === undefined) events.onState('lost');
      else setTimeout(open, pause);
    };
  };
  open();
  return {
    send: (message) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    },
  };
}
