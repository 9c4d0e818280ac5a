import type { FlowStatus, FlowStep, StepTime } from '../../contract/connections.ts';

/** More than a flow takes in its lifetime. After them the last step lasts until the end. */
const MAX_STEPS = 100;

/** The steps of a flow that starts. */
export function firstStep(step: FlowStep, nowIso: string): StepTime[] {
  return [{ step, started_at: nowIso, ended_at: null }];
}

/** The step times of a flow in its new state `now`. `COMPLETED` takes no time and has no entry. */
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
