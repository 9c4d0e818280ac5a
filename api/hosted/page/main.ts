import { assertNever } from '../../../contract/assert-never.ts';
import type { FlowView } from '../view.ts';
import { readState, submitAnswer, type Answer } from './calls.ts';
import { createCountdown } from './countdown.ts';
import { enter, takeCode } from './entry.ts';
import { follow, type Follower } from './follow.ts';
import { createFrame, type Screen } from './frame.ts';
import { endScreen, outScreen, type OutReason } from './screens/end.ts';
import { openingScreen, progressScreen } from './screens/progress.ts';
import { questionScreen, type RememberedNames } from './screens/question.ts';
import { fill, words } from './words.ts';

/** How long an answered pause may still be reported before it is asked again, in milliseconds. */
const ANSWER_SETTLES_MS = 20_000;
/** Waits between attempts to get in, in milliseconds; the last one repeats. */
const ENTRY_BACKOFF_MS = [1_000, 2_000, 4_000, 8_000] as const;

// 1. Before anything else: the code leaves the address bar.
const pending = takeCode();
const root = document.getElementById('page');
if (root) start(root);

function start(page: HTMLElement): void {
  const frame = createFrame(page);
  const names: RememberedNames = new Map();
  let flow: string | null = null;
  let revision = -1;
  let shownInteraction: string | null = null;
  let answered: { answer: Answer; at: number } | null = null;
  let follower: Follower | null = null;
  let ended = false;
  const countdown = createCountdown(frame.timer, frame.announce, () => void refresh());

  frame.show(openingScreen());
  void getIn();

  async function getIn(): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const entry = await enter(pending);
      if (entry.kind === 'out') {
        leave(entry.why);
        return;
      }
      if (entry.kind === 'in') {
        frame.banner(null);
        apply(entry.view);
        if (!ended) beginFollowing();
        return;
      }
      frame.banner(navigator.onLine ? words.stillTrying : words.offlineLine);
      await pause(ENTRY_BACKOFF_MS[Math.min(attempt, ENTRY_BACKOFF_MS.length - 1)] ?? 8_000);
    }
  }

  function beginFollowing(): void {
    follower = follow({
      state: apply,
      replaced: () => leave('replaced'),
      refused: (status) => leave(status === 410 ? 'replaced' : status === 404 ? 'unknown' : 'none'),
      link: (state) => frame.banner(state === 'up' ? null : navigator.onLine ? words.lostLine : words.offlineLine),
    });
    window.addEventListener('online', () => follower?.hurry());
    window.addEventListener('offline', () => ended || frame.banner(words.offlineLine));
    // A phone that slept has a dead stream and does not know it yet.
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState !== 'visible' || ended) return;
      follower?.hurry();
      void refresh();
    });
  }

  /** Takes the flow as it is now. States may come twice and by two ways; an older one changes nothing. */
  function apply(view: FlowView): void {
    if (ended || view.revision < revision) return;
    if (flow !== null && view.flow !== flow) {
      leave('replaced');
      return;
    }
    flow = view.flow;
    revision = view.revision;
    shownInteraction = view.interaction_id;
    if (view.status !== 'IN_PROGRESS') {
      close();
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
        if (asksNothing(view)) return progressScreen('submitting', view.domain);
        return questionScreen(view, names, (answer) => ask(view.domain, answer));
      default:
        return assertNever(view.step);
    }
  }

  /** True while a pause is still reported that was answered just now: asking it again would be a flicker. */
  function isSettling(view: FlowView): boolean {
    if (answered === null || view.interaction_id !== answered.answer.interaction_id) return false;
    const left = answered.at + ANSWER_SETTLES_MS - Date.now();
    if (left > 0) setTimeout(() => void refresh(), left + 50);
    else answered = null;
    return left > 0;
  }

  async function ask(domain: string, answer: Answer): Promise<string | null> {
    const outcome = await submitAnswer(answer);
    if (outcome.kind === 'offline') return words.sendFailed;
    if (outcome.kind === 'ok') {
      answered = { answer, at: Date.now() };
      // The next state may have overtaken this answer: then it is on the screen already.
      if (!ended && shownInteraction === answer.interaction_id) frame.show(progressAfter(answer, domain));
      return null;
    }
    if (outcome.code === 'stale_interaction' || outcome.code === 'not_awaiting_input') {
      // Another tab, or this one's lost request, has answered already: go on from there.
      frame.announce(words.answeredElsewhere);
      return (await refresh()) ? null : words.sendFailed;
    }
    if ([401, 404, 410].includes(outcome.status)) {
      leave(outcome.status === 410 ? 'replaced' : outcome.status === 404 ? 'unknown' : 'none');
      return null;
    }
    return outcome.status === 429 ? words.tooMany : fill(words.sendRefused, { domain });
  }

  async function refresh(): Promise<boolean> {
    const outcome = await readState();
    if (outcome.kind === 'ok') apply(outcome.value);
    else if (outcome.kind === 'refused' && outcome.status === 410) leave('replaced');
    return outcome.kind === 'ok';
  }

  function leave(why: OutReason): void {
    if (ended) return;
    close();
    frame.show(outScreen(why));
  }

  function close(): void {
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

/** True for a pause with nothing to answer and nothing to do: only a faulty state looks so, and it passes. */
function asksNothing(view: FlowView): boolean {
  return view.step === 'AWAITING_INPUT' && view.fields.length + view.choices.length === 0;
}
