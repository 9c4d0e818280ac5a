import { Context } from '@temporalio/activity';

/** Well under the heartbeat time-out of the browser activities, so that one late beat is forgiven. */
const BEAT_EVERY_MS = 2000;

/**
 * Runs an activity's work under a heartbeat: a lost worker is noticed within seconds, and a cancelled activity stops.
 * Heartbeats carry no details: they would be another way out for what a page says.
 */
export async function withHeartbeat<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const context = Context.current();
  context.heartbeat();
  const beat = setInterval(() => {
    context.heartbeat();
  }, BEAT_EVERY_MS);
  try {
    return await Promise.race([work(context.cancellationSignal), context.cancelled]);
  } finally {
    clearInterval(beat);
  }
}
