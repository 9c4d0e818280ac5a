import { expect, it } from 'vitest';
import type { FlowStatus, FlowStep, StepTime } from '../../contract/connections.ts';
import { firstStep, stepTimesAfter } from '../../workflows/policy/step-times.ts';

const at = (second: number): string => new Date(second * 1000).toISOString();

/** The steps of a flow that entered each of these a second after the previous one. */
function walk(moves: readonly (readonly [FlowStep, FlowStatus])[]): StepTime[] {
  return moves.reduce<StepTime[]>(
    (steps, [flow_step, flow_status], index) => stepTimesAfter(steps, { flow_step, flow_status }, at(index + 1)),
    firstStep('DISCOVERING', at(0)),
  );
}

it('times each step until the next one starts, and has no current step at the end', () => {
  const steps = walk([
    ['AWAITING_INPUT', 'IN_PROGRESS'],
    ['AWAITING_INPUT', 'IN_PROGRESS'],
    ['SUBMITTING', 'IN_PROGRESS'],
    ['COMPLETED', 'SUCCESS'],
  ]);
  expect(steps).toEqual([
    { step: 'DISCOVERING', started_at: at(0), ended_at: at(1) },
    { step: 'AWAITING_INPUT', started_at: at(1), ended_at: at(3) },
    { step: 'SUBMITTING', started_at: at(3), ended_at: at(4) },
  ]);
});

it('ends the step in which a flow failed', () => {
  expect(walk([['DISCOVERING', 'FAILED']])).toEqual([{ step: 'DISCOVERING', started_at: at(0), ended_at: at(1) }]);
});

it('stays small enough for a row', () => {
  const steps = walk(
    Array.from({ length: 400 }, (_, index) => [index % 2 === 0 ? 'AWAITING_INPUT' : 'SUBMITTING', 'IN_PROGRESS']),
  );
  expect(steps).toHaveLength(100);
  expect(steps.filter((step) => step.ended_at === null)).toHaveLength(1);
});
