/** Pause between two tries, in milliseconds. */
const PAUSE_MS = 500;

/**
 * Tries until it works or `withinMs` have passed, then rejects with the last fault. For servers that are starting, or that
 * a busy machine keeps from answering; what cannot get better is passed on at once by `isFinal`.
 */
export async function retrying<T>(
  work: () => Promise<T>,
  withinMs: number,
  isFinal: (error: unknown) => boolean = () => false,
): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (isFinal(error) || Date.now() + PAUSE_MS > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
