import { z } from 'zod';

/** Name of a resource that a URL's path may call it by. `.` and `..` cannot stand there. */
export const ResourceName = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .refine((name) => name !== '.' && name !== '..', 'must not be `.` or `..`');
