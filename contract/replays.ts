import { z } from 'zod';

/** Frames a second: the least, the most without a graphics card, and what a caller who names none gets. */
const FRAMERATE = { min: 1, max: 20, default: 10 } as const;
/** Longest recording, in seconds, and how long one runs that is not stopped. */
const DURATION = { max: 14_400, default: 3600 } as const;

/** Body of `POST /browsers/{id}/replays`. Browsers here are mute: there is no sound to record. */
export const ReplayStart = z.strictObject({
  framerate: z.int().min(FRAMERATE.min).max(FRAMERATE.max).default(FRAMERATE.default),
  max_duration_in_seconds: z.int().min(1).max(DURATION.max).default(DURATION.default),
  record_audio: z.literal(false, { message: 'sessions are mute: there is no sound to record' }).optional(),
});
export type ReplayStart = z.infer<typeof ReplayStart>;

/** A recording of a session. `finished_at` is null while it runs; the URL carries its own token, and ends with the session. */
export const Replay = z.object({
  replay_id: z.string(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
  replay_view_url: z.string().optional(),
});
export type Replay = z.infer<typeof Replay>;
