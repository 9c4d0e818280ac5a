import { useQueryClient } from '@tanstack/react-query';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { useEffect } from 'react';
import { callStream } from '../calls/call.ts';

/** Reads a connection again with each state of the login that runs, as its event stream tells. A lost stream is left to polling. */
export function useConnectionEvents(path: string, isRunning: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!isRunning) return undefined;
    const leaving = new AbortController();
    const follow = async (): Promise<void> => {
      const stream = await callStream(`${path}/events`, leaving.signal);
      const events = stream.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      const reader = events.getReader();
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        if (next.value.event === 'managed_auth_state') await client.invalidateQueries({ queryKey: [path] });
      }
    };
    follow().catch(() => undefined);
    return () => leaving.abort();
  }, [client, path, isRunning]);
}
