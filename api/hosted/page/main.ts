import { assertNever } from '../../../contract/assert-never.ts';
import type { FlowView } from '../view.ts';
import { readState, submitAnswer, type Answer } from './calls.ts';
import { createCountdown } from './countdown.ts';
import { enter, consumeCode } from './entry.ts';
import { follow, type Follower } from './follow.ts';
import { createFrame, type Screen } from './frame.ts';
import { endScreen, rejectionScreen, type RejectionReason } from './screens/end.ts';
import { openingScreen, progressScreen } from './screens/progress.ts';
import { questionScreen, type RememberedUsernames } from './screens/question.ts';
import { fill, words } from './words.ts';

/** How long an answered interaction may still be reported before it is shown again, in milliseconds. */
const ANSWER_SETTLES_MS = 20_000;
/** Delays between attempts to enter in milliseconds; the last one repeats. */
const ENTRY_BACKOFF_MS = [1_000, 2_000, 4_000, 8_000] as const;

// Before anything else: remove the code from the address bar.
const pending = consumeCode();
const root = document.getElementById('page');
if (root) start(root);

function start(page: HTMLElement): void {
  const frame = createFrame(page);
  const names: RememberedUsernames = new Map();
  let flow: string | null = null;
  let revision = -1;
  let shownInteraction: string | null = null;
  let answered: { answer: Answer; at: number } | null = null;
  let follower: Follower | null = null;
  let ended = false;
  const countdown = createCountdown(frame.timer, frame.announce, () => void refresh());

  frame.show(openingScreen());
  void enterWithRetries();

  async function enterWithRetries(): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const entry = await enter(pending);
      if (entry.kind === 'rejected') {
        reject(entry.why);
        return;
      }
      if (entry.kind === 'entered') {
        frame.banner(null);
        apply(entry.view);
        if (!ended) startFollowing();
        return;
      }
      frame.banner(navigator.onLine ? words.stillTrying : words.offlineLine);
      await pause(ENTRY_BACKOFF_MS[Math.min(attempt, ENTRY_BACKOFF_MS.length - 1)] ?? 8_000);
    }
  }

  function startFollowing(): void {
    follower = follow({
      state: apply,
      replaced: () => reject('replaced'),
      rejected: (status) => reject(status === 410 ? 'replaced' : status === 404 ? 'unknown' : 'none'),
      link: (state) => frame.banner(state === 'up' ? null : navigator.onLine ? words.lostLine : words.offlineLine),
    });
    window.addEventListener('online', () => follower?.reconnect());
    window.addEventListener('offline', () => ended || frame.banner(words.offlineLine));
    // After sleep, a phone has a dead stream and does not know it yet.
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState !== 'visible' || ended) return;
      follower?.reconnect();
      void refresh();
    });
  }

  /** Applies a state of the flow. States may arrive twice and out of order; older ones are ignored. */
  function apply(view: FlowView): void {
    if (ended || view.revision < revision) return;
    if (flow !== null && view.flow !== flow) {
      reject('replaced');
      return;
    }
    flow = view.flow;
    revision = view.revision;
    shownInteraction = view.interaction_id;
    if (view.status !== 'IN_PROGRESS') {
      end();
      frame.show(endScreen(view, frame.announce));
      return;
    }
    countdown.set(view.expires_in_ms);
    frame.show(screenOf(view));
  }

  function screenOf(view: FlowView): Screen {
    switch (view.step) {
      case 'DISCOVERING':
        return progressScreen('discovering', view.domain);
      case 'SUBMITTING':
      case 'COMPLETED':
        return progressScreen('submitting', view.domain);
      case 'AWAITING_INPUT':
      case 'AWAITING_EXTERNAL_ACTION':
        if (answered !== null && isSettling(view)) return progressAfter(answered.answer, view.domain);
        if (isEmpty(view)) return progressScreen('submitting', view.domain);
        return questionScreen(view, names, (answer) => submit(view.domain, answer));
      default:
        return assertNever(view.step);
    }
  }

  /** True while the interaction answered just now is still reported: showing it again would flicker. */
  function isSettling(view: FlowView): boolean {
    if (answered === null || view.interaction_id !== answered.answer.interaction_id) return false;
    const left = answered.at + ANSWER_SETTLES_MS - Date.now();
    if (left > 0) setTimeout(() => void refresh(), left + 50);
    else answered = null;
    return left > 0;
  }

  async function submit(domain: string, answer: Answer): Promise<string | null> {
    const outcome = await submitAnswer(answer);
    if (outcome.kind === 'offline') return words.sendFailed;
    if (outcome.kind === 'ok') {
      answered = { answer, at: Date.now() };
      // The next state may have arrived before this response: then it is already shown.
      if (!ended && shownInteraction === answer.interaction_id) frame.show(progressAfter(answer, domain));
      return null;
    }
    if (outcome.code === 'stale_interaction' || outcome.code === 'not_awaiting_input') {
      // Already answered by another tab or a lost request: continue from there.
      frame.announce(words.answeredElsewhere);
      return (await refresh()) ? null : words.sendFailed;
    }
    if ([401, 404, 410].includes(outcome.status)) {
      reject(outcome.status === 410 ? 'replaced' : outcome.status === 404 ? 'unknown' : 'none');
      return null;
    }
    return outcome.status === 429 ? words.tooMany : fill(words.sendRefused, { domain });
  }

  async function refresh(): Promise<boolean> {
    const outcome = await readState();
    if (outcome.kind === 'ok') apply(outcome.value);
    else if (outcome.kind === 'rejected' && outcome.status === 410) reject('replaced');
    return outcome.kind === 'ok';
  }

  function reject(why: RejectionReason): void {
    if (ended) return;
    end();
    frame.show(rejectionScreen(why));
  }

  function end(): void {
    ended = true;
    names.clear();
    follower?.stop();
    countdown.hide();
    frame.banner(null);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    window.addEventListener('online', done, { once: true });
    function done() {
      clearTimeout(timer);
      resolve();
    }
  });
}

function progressAfter({ wrong_form: isWrong }: Answer, domain: string): Screen {
  return progressScreen(isWrong === true ? 'discovering' : 'submitting', domain);
}

/** True for an interaction without fields or choices: a transient inconsistency. */
function isEmpty(view: FlowView): boolean {
  return view.step === 'AWAITING_INPUT' && view.fields.length + view.choices.length === 0;
}
