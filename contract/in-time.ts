/**
 * What `work` answers within so many milliseconds, else `late`. A failure in time is thrown; what comes after it is nobody's
 * concern any more. The work itself goes on: whoever can should end it.
 */
export async function inTime<Result, Late>(
  work: Promise<Result>,
  milliseconds: number,
  late: Late,
): Promise<Result | Late> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve(late), milliseconds);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
