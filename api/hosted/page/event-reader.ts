import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** Reads server-sent events to their end. `onData` is called before each read. Rejects when the connection breaks. */
export async function readEvents(
  response: Response,
  onData: () => void,
  onEvent: (event: EventSourceMessage) => void,
): Promise<void> {
  if (response.body === null) throw new Error('no body');
  const parser = createParser({ onEvent });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    onData();
    const { value, done } = await reader.read();
    if (done) return;
    parser.feed(value);
  }
}

/** Calls back when it was not fed for so long. */
export function createWatchdog(limitMs: number, bark: () => void): { feed: () => void; stop: () => void } {
  let timer = setTimeout(bark, limitMs);
  return {
    feed() {
      clearTimeout(timer);
      timer = setTimeout(bark, limitMs);
    },
    stop: () => clearTimeout(timer),
  };
}
