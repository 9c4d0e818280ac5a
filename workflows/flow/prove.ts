import { uuid4 } from '@temporalio/workflow';
import { assertNever } from '../../contract/assert-never.ts';
import type { Observation } from '../../contract/activities.ts';
import { decideCaptcha } from '../policy/decide.ts';
import { presentInteraction } from '../policy/interaction.ts';
import { targetNow, type FlowContext, type Progress } from './context.ts';
import { discover, guarded } from './session.ts';
import { haveAnswered, mayAskSolver } from './solve.ts';
import { whicheverFirst } from './watch.ts';

/** The page as it goes on, or what is said of a flow that ends here, for nobody has answered the captcha. */
export type Proof = { seen: Observation } | { blocked: string };

/**
 * Has a captcha beside the fields of a form answered before the form is filled in and sent: by itself, by the solver, by a person on
 * the page itself. What was to be typed waits meanwhile: an answer is good for minutes, a person's thought about a password may
 * take longer.
 */
export async function prove(context: FlowContext, progress: Progress): Promise<Proof> {
  const seen = await guarded(progress, (sessionId) =>
    context.browser.readPage({ target: targetNow(context, progress), sessionId, submitted: false }),
  );
  const { sessionId } = progress;
  if (seen === null || sessionId === null) return { seen: await discover(context, progress) };
  if (!isUnproved(seen)) return { seen };
  const ask = (): ReturnType<typeof decideCaptcha> =>
    decideCaptcha({ mode: context.mode, observation: seen, mayAskSolver: mayAskSolver(progress, seen) });
  let decision = ask();
  if (decision.do === 'solve') {
    const answered = await haveAnswered(context, progress, sessionId, seen);
    if (progress.sessionId === null) return { seen: await discover(context, progress) };
    if (answered !== null && !isUnproved(answered)) return { seen: answered };
    decision = ask();
  }
  switch (decision.do) {
    case 'wait':
      return await waitForTick(context, progress, sessionId, decision.message);
    case 'fail':
      return { blocked: decision.message };
    case 'solve':
      return { blocked: 'The captcha solver did not answer the captcha; log in once by hand' };
    default:
      return assertNever(decision);
  }
}

/** True while a captcha waits: one beside the fields, or the puzzle that its tick has opened. */
function isUnproved({ reading, unproved }: Observation): boolean {
  return unproved === true || reading.kind === 'captcha';
}

async function waitForTick(
  context: FlowContext,
  progress: Progress,
  sessionId: string,
  message: string,
): Promise<Proof> {
  const interactionId = uuid4();
  context.report({
    flow_step: 'AWAITING_EXTERNAL_ACTION',
    external_action_message: message,
    interaction: { ...presentInteraction(interactionId, [], []), acts_on_page: true },
  });
  const first = await whicheverFirst(context, progress, sessionId, { interactionId, stays: isUnproved });
  switch (first.kind) {
    case 'answered':
      return { blocked: 'Nobody answered the captcha; start a new login' };
    case 'watched':
      return { seen: first.seen };
    case 'lost':
      return { seen: await discover(context, progress) };
    default:
      return assertNever(first);
  }
}
