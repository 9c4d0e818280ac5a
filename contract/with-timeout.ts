/** The result of `work`, or `fallback` after so many milliseconds. The work continues and its later failure is ignored. */
export async function withTimeout<Result, Fallback>(
  work: Promise<Result>,
  milliseconds: number,
  fallback: Fallback,
): Promise<Result | Fallback> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<Fallback>((resolve) => {
    timer = setTimeout(() => resolve(fallback), milliseconds);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
