import cliProgress from 'cli-progress';

/** Shorter work shows no progress. */
const QUIET_MS = 1_000;
/** Interval of lines without a terminal. */
const LINE_EVERY_MS = 15_000;

/** Reports the progress of work. */
export interface Progress {
  /** `done` of `total`, in any unit. */
  step(done: number, total: number): void;
  /** A short description of the current step. */
  note(text: string): void;
}

/** The stream for progress: standard error by default, so that standard output has only results. */
interface ProgressOutput {
  write(text: string): unknown;
  isTTY?: boolean;
}

/**
 * Runs `work` and shows its progress once it takes more than a second: a bar on a terminal, else a line at the start, one
 * every fifteen seconds and one at the end. Rejects if `work` rejects.
 */
export async function withProgress<T>(
  label: string,
  work: (progress: Progress) => Promise<T>,
  output: ProgressOutput = process.stderr,
): Promise<T> {
  const began = Date.now();
  const seconds = (): number => Math.round((Date.now() - began) / 1000);
  const display =
    output.isTTY === true && output === process.stderr ? bar(label, seconds) : lines(label, seconds, output);
  const timer = setInterval(() => {
    if (Date.now() - began >= QUIET_MS) display.draw();
  }, 250);
  let ended = 'failed';
  try {
    const result = await work(display);
    ended = 'done';
    return result;
  } finally {
    clearInterval(timer);
    if (Date.now() - began >= QUIET_MS) display.end(ended);
  }
}

interface Display extends Progress {
  draw(): void;
  end(how: string): void;
}

/** The bars on the terminal, one for each concurrent work. */
let bars: cliProgress.MultiBar | undefined;
let shownBars = 0;

function bar(label: string, seconds: () => number): Display {
  let single: cliProgress.SingleBar | undefined;
  let current = 0;
  let goal = 1;
  let note = '';
  return {
    step(done, total) {
      current = done;
      goal = Math.max(total, 1);
    },
    note(text) {
      note = text;
    },
    draw() {
      bars ??= new cliProgress.MultiBar({
        format: '{label} {bar} {note} {elapsed} s',
        barCompleteChar: '█',
        barIncompleteChar: '░',
        barsize: 24,
        hideCursor: true,
        clearOnComplete: true,
      });
      if (!single) shownBars += 1;
      single ??= bars.create(goal, current, { label, note, elapsed: seconds() });
      single.setTotal(goal);
      single.update(current, { note, elapsed: seconds() });
    },
    end(how) {
      const line = `${label}: ${how} in ${String(seconds())} s\n`;
      if (single) {
        bars?.remove(single);
        shownBars -= 1;
      }
      if (shownBars > 0) {
        bars?.log(line);
        return;
      }
      bars?.stop();
      bars = undefined;
      process.stderr.write(line);
    },
  };
}

function lines(label: string, seconds: () => number, output: ProgressOutput): Display {
  let lastLine = 0;
  let state = '';
  return {
    step(done, total) {
      state = total > 0 ? ` ${String(Math.floor((100 * done) / total))} %` : '';
    },
    note(text) {
      state = ` ${text}`;
    },
    draw() {
      if (lastLine !== 0 && Date.now() - lastLine < LINE_EVERY_MS) return;
      output.write(lastLine === 0 ? `${label} ...\n` : `${label} ...${state} (${String(seconds())} s)\n`);
      lastLine = Date.now();
    },
    end(how) {
      output.write(`${label}: ${how} in ${String(seconds())} s\n`);
    },
  };
}
