import cliProgress from 'cli-progress';

/** Work shorter than this stays silent. */
const QUIET_MS = 1_000;
/** Without a terminal, one line each time this long has passed. */
const LINE_EVERY_MS = 15_000;

/** What a piece of work tells while it runs. */
export interface Progress {
  /** How far it is: `done` of `total`, in a unit of its own. */
  step(done: number, total: number): void;
  /** A few words on what it does now. */
  note(text: string): void;
}

/** Where progress is written: by default standard error, so that standard output stays for answers. */
export interface ProgressOutput {
  write(text: string): unknown;
  isTTY?: boolean;
}

/**
 * Runs `work` and shows its progress as soon as it has taken over a second: a bar on a terminal, else a line at the
 * start, one every fifteen seconds and one at the end. Rejects with what `work` rejects with.
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

/** The bars on the terminal: work that goes on side by side has one each. */
let bars: cliProgress.MultiBar | undefined;
let shownBars = 0;

function bar(label: string, seconds: () => number): Display {
  let single: cliProgress.SingleBar | undefined;
  let now = 0;
  let of = 1;
  let words = '';
  return {
    step(done, total) {
      now = done;
      of = Math.max(total, 1);
    },
    note(text) {
      words = text;
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
      single ??= bars.create(of, now, { label, note: words, elapsed: seconds() });
      single.setTotal(of);
      single.update(now, { note: words, elapsed: seconds() });
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
