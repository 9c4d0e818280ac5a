import type { FlowStatus, FlowStep, StepTime } from '../../contract/connections.ts';

/** More than a flow of a whole lifetime takes. Past them the last one goes on until the end. */
const MAX_STEPS = 100;

/** The steps of a flow that begins. */
export function firstStep(step: FlowStep, nowIso: string): StepTime[] {
  return [{ step, started_at: nowIso, ended_at: null }];
}

/**
 * The steps of a flow once it has come to `now`: one that it has left has an end. A flow that is over is in none; `COMPLETED`
 * takes no time and is none.
 */
export function stepTimesAfter(
  before: readonly StepTime[],
  now: { flow_step: FlowStep; flow_status: FlowStatus },
  nowIso: string,
): StepTime[] {
  const last = before.at(-1);
  const isOver = now.flow_status !== 'IN_PROGRESS';
  if (!isOver && (last?.step === now.flow_step || before.length >= MAX_STEPS)) return [...before];
  const left = before.map((one) => (one.ended_at === null ? { ...one, ended_at: nowIso } : one));
  return isOver || now.flow_step === 'COMPLETED' ? left : [...left, ...firstStep(now.flow_step, nowIso)];
}
