import { z } from 'zod';

/** Name of a resource that URLs may use as a path segment, which rules out `.` and `..`. */
export const ResourceName = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .refine((name) => name !== '.' && name !== '..', 'must not be `.` or `..`');
