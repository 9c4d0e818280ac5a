/** One measured figure. */
export interface Figure {
  /** What was measured, as a row of docs/performance.md. */
  name: string;
  /** The value with its unit. */
  value: string;
  /** The target, if there is one. */
  aim?: string;
}

/** The lower median. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}

/** `1.23 s (1.10 to 1.50, n=5)` from milliseconds. */
export function secondsOf(values: readonly number[]): string {
  const text = (ms: number): string => (ms / 1000).toFixed(2);
  return `${text(median(values))} s (${text(Math.min(...values))} to ${text(Math.max(...values))}, n=${values.length})`;
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** A Markdown table of figures. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => `| ${figure.name} | ${figure.value} | ${figure.aim ?? ''} |`);
  return ['| figure | measured | aim |', '|---|---|---|', ...rows].join('\n');
}
