import type { MeantControl } from './control-meaning.ts';
import type { ControlFacts } from './facts.ts';

const MIN_BOXES = 4;
/** Pixels of a box that does not say how many characters it takes. */
const MAX_BOX_WIDTH = 64;

/** Neighbouring boxes for one character each are one field. */
export function joinBoxes(controls: readonly MeantControl[]): MeantControl[][] {
  const runs: MeantControl[][] = [];
  for (const each of controls) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run && last && isBox(each.control) && isBox(last.control) && standBeside(last.control, each.control))
      run.push(each);
    else runs.push([each]);
  }
  return runs.flatMap((run) => {
    if (run.length < MIN_BOXES) return run.map((each) => [each]);
    return [
      run.map((each) => ({
        control: each.control,
        meaning: 'code' as const,
        why: 'a row of boxes for one character each',
      })),
    ];
  });
}

function isBox(control: ControlFacts): boolean {
  return control.tag === 'input' && (control.maxLength === 1 || control.box.width <= MAX_BOX_WIDTH);
}

function standBeside(left: ControlFacts, right: ControlFacts): boolean {
  if (left.form !== right.form) return false;
  // Without its styles, a row of boxes is broken into lines.
  if (left.maxLength === 1 && right.maxLength === 1) return true;
  return Math.abs(left.box.y - right.box.y) <= 8 && Math.abs(left.box.width - right.box.width) <= 8;
}
