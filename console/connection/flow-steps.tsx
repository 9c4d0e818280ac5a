import { type ReactNode, useEffect, useState } from 'react';
import type { FlowStep, StepTime, TimelineEvent } from '../../contract/connections.ts';
import { connectionTables, connectionWords as words } from '../words/connections.ts';
import { formatDuration } from '../words/format.ts';
import { fill } from '../words/language.ts';

const STEPS = ['DISCOVERING', 'AWAITING_INPUT', 'SUBMITTING', 'COMPLETED'] as const;

/** The steps of a login with their durations. Old events have no durations: they show the last step reached. */
export function FlowSteps({ event }: { event: TimelineEvent }): ReactNode {
  return event.steps === undefined ? <Reached event={event} /> : <Timed event={event} steps={event.steps} />;
}

/** How long a login took or has been running, and how much of that was waiting; null for checks. */
export function useFlowTime(event: TimelineEvent): string | null {
  const { type, status, timestamp, updated_at: updatedAt, steps = [] } = event;
  const isOpen = status === 'IN_PROGRESS';
  const now = useNow(isOpen && type !== 'health_check');
  const end = isOpen ? now : updatedAt === undefined ? null : Date.parse(updatedAt);
  if (type === 'health_check' || end === null) return null;
  const took = fill(isOpen ? words.elapsed : words.took, { time: secondsText(end - Date.parse(timestamp)) });
  const waited = steps.filter(isWait).reduce((sum, step) => sum + lengthOf(step, now), 0);
  return waited === 0 ? took : `${took}, ${fill(words.waited, { time: secondsText(waited) })}`;
}

/** Steps as a bar scaled by duration, with a legend. Waiting is hatched. */
function Timed({ event: { status }, steps }: { event: TimelineEvent; steps: readonly StepTime[] }): ReactNode {
  const now = useNow(steps.at(-1)?.ended_at === null);
  return (
    <>
      <div className="step-bar" aria-hidden="true">
        {steps.map((step) => (
          <span key={step.started_at + step.step} data-kind={kindOf(step)} style={{ flexGrow: lengthOf(step, now) }} />
        ))}
      </div>
      <ol className="step-times">
        {steps.map((step, index) => (
          <li key={step.started_at + step.step}>
            <span className="swatch" data-kind={kindOf(step)} aria-hidden="true" />
            {connectionTables.steps[step.step]} <strong>{secondsText(lengthOf(step, now))}</strong>
            {index === steps.length - 1 && status !== 'SUCCESS' && status !== 'IN_PROGRESS' ? (
              <span className="muted"> {words.endedHere}</span>
            ) : null}
          </li>
        ))}
      </ol>
    </>
  );
}

/** The steps as a list, marked up to the last one reached. */
function Reached({ event: { step, status } }: { event: TimelineEvent }): ReactNode {
  const place = step === 'AWAITING_EXTERNAL_ACTION' ? 'AWAITING_INPUT' : step;
  const reached = STEPS.findIndex((one) => one === place);
  if (reached === -1) return null;
  return (
    <ol className="steps">
      {STEPS.map((one, index) => (
        <li
          key={one}
          data-state={index > reached ? 'open' : index === reached && status !== 'SUCCESS' ? 'here' : 'done'}
        >
          {connectionTables.steps[index === reached && step === 'AWAITING_EXTERNAL_ACTION' ? step : one]}
        </li>
      ))}
    </ol>
  );
}

const WAITS: ReadonlySet<FlowStep> = new Set<FlowStep>(['AWAITING_INPUT', 'AWAITING_EXTERNAL_ACTION']);
const isWait = ({ step }: StepTime): boolean => WAITS.has(step);
const kindOf = (step: StepTime): 'wait' | 'work' => (isWait(step) ? 'wait' : 'work');

/** Duration in milliseconds; open steps last until now. The clocks of page and service may differ. */
function lengthOf({ started_at: from, ended_at: until }: StepTime, now: number): number {
  return Math.max(0, (until === null ? now : Date.parse(until)) - Date.parse(from));
}

const secondsText = (ms: number): string => formatDuration(Math.max(0, ms) / 1000);

/** The current time (epoch ms), updated every second while `isOpen`. */
function useNow(isOpen: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isOpen) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isOpen]);
  return now;
}
