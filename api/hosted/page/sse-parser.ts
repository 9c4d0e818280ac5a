/** One server-sent event. */
export interface SseEvent {
  name: string;
  id: string;
  data: string;
}

/** Takes the stream's text in any pieces and calls back with each whole event. */
export function createSseParser(onEvent: (event: SseEvent) => void): (chunk: string) => void {
  let rest = '';
  let event: SseEvent = { name: 'message', id: '', data: '' };
  return (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const colon = line.indexOf(':');
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (line === '') {
        if (event.data !== '') onEvent(event);
        event = { name: 'message', id: '', data: '' };
      } else if (field === 'event') event.name = value;
      else if (field === 'id') event.id = value;
      else if (field === 'data') event.data += value;
    }
  };
}
