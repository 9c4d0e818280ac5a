import { z } from 'zod';

/** The session in a path: its id, or its name where the interface allows one. */
export const SessionParams = z.object({ id: z.string().min(1).max(255) });

/** A process of a session in a path. */
export const ProcessParams = SessionParams.extend({ processId: z.string().min(1).max(255) });

/** A watch of a session in a path. */
export const WatchParams = SessionParams.extend({ watchId: z.string().min(1).max(255) });
