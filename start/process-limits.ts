import { z } from 'zod';

const MEGABYTE = 1024 * 1024;

/** A setting that is a number. */
export function wholeNumber(lowest: number, highest: number) {
  const rule = `must be a whole number from ${lowest} to ${highest}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, rule)
    .transform(Number)
    .refine((number) => number >= lowest && number <= highest, rule);
}

/** What bounds the programs of sessions, as the environment has it. */
export const PROCESS_LIMITS = {
  BROWSER_PROCESS_MEMORY_MB: wholeNumber(16, 1_048_576),
  BROWSER_PROCESS_COUNT: wholeNumber(8, 1_000_000),
  BROWSER_PROCESS_FILE_MB: wholeNumber(1, 1_048_576),
  BROWSER_PROCESS_NICE: wholeNumber(0, 19),
};

/** As the browser service takes it; what is not named is as usual. */
export interface ProcessLimitSettings {
  memoryBytes?: number;
  processes?: number;
  fileBytes?: number;
  niceness?: number;
}

export function processLimits(
  read: Readonly<Partial<Record<keyof typeof PROCESS_LIMITS, number | undefined>>>,
): ProcessLimitSettings {
  const { BROWSER_PROCESS_MEMORY_MB: memory, BROWSER_PROCESS_FILE_MB: file } = read;
  const { BROWSER_PROCESS_COUNT: processes, BROWSER_PROCESS_NICE: niceness } = read;
  return {
    ...(memory === undefined ? {} : { memoryBytes: memory * MEGABYTE }),
    ...(file === undefined ? {} : { fileBytes: file * MEGABYTE }),
    ...(processes === undefined ? {} : { processes }),
    ...(niceness === undefined ? {} : { niceness }),
  };
}
