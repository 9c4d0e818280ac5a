import { z } from 'zod';

/** The session in a path: its id, or its name where the interface allows one. */
export const SessionParams = z.object({ id: z.string().min(1).max(255) });
