/** The result of `work`, or `late` after so many milliseconds. The work continues and its later failure is ignored. */
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
