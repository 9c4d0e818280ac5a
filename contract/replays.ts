import { z } from 'zod';

/** Frames per second: minimum, maximum without a graphics card, and default. */
const FRAMERATE = { min: 1, max: 20, default: 10 } as const;
/** Maximum and default duration of a recording, in seconds. */
const DURATION = { max: 14_400, default: 3600 } as const;

/** Body of `POST /browsers/{id}/replays`. Browsers have no sound to record. */
export const ReplayStart = z.strictObject({
  framerate: z.int().min(FRAMERATE.min).max(FRAMERATE.max).default(FRAMERATE.default),
  max_duration_in_seconds: z.int().min(1).max(DURATION.max).default(DURATION.default),
  record_audio: z.literal(false, { message: 'sessions are mute: there is no sound to record' }).optional(),
});
export type ReplayStart = z.infer<typeof ReplayStart>;

/** A recording. `finished_at` is null while it runs; the URL carries its own token and expires with the session. */
export const Replay = z.object({
  replay_id: z.string(),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
  replay_view_url: z.string().optional(),
});
export type Replay = z.infer<typeof Replay>;
