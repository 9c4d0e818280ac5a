import { z } from 'zod';

const Values = z.record(z.string(), z.string());

/** The values of a credential or a submission, from their opened JSON. */
export function asValues(opened: unknown): Record<string, string> {
  return Values.parse(opened);
}
