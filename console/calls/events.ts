import { useQueryClient } from '@tanstack/react-query';
import type { EventSourceMessage } from 'eventsource-parser';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { useEffect } from 'react';
import { callStream } from './call.ts';

/** Yields the events of a stream until it ends or `signal` aborts. Rejects with `CallError`. */
export async function* callEvents(path: string, signal: AbortSignal): AsyncGenerator<EventSourceMessage> {
  const stream = await callStream(path, signal);
  const reader = stream.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()).getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}

/** Refetches a connection on every event of its running login. If the stream breaks, polling takes over. */
export function useConnectionEvents(path: string, isRunning: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!isRunning) return undefined;
    const unmounted = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const { event } of callEvents(`${path}/events`, unmounted.signal)) {
        if (event === 'managed_auth_state') await client.invalidateQueries({ queryKey: [path] });
      }
    };
    follow().catch(() => undefined);
    return () => unmounted.abort();
  }, [client, path, isRunning]);
}
