import { h } from './dom.ts';
import { icon } from './icons.ts';
import { fill, words } from './words.ts';

/** Announced when this many seconds are left, and at no other time: a talking clock is noise. */
const ANNOUNCED_AT_S = [5 * 60, 60] as const;
/** Looks urgent from this many seconds on. */
const URGENT_AT_S = 60;

/** The time left until the flow expires. */
export interface Countdown {
  /** Sets the remaining time, counted by this device's clock. */
  set(remainingMs: number): void;
  hide(): void;
}

/** Shows the remaining time in `element`; `onZero` is called once when it runs out. */
export function createCountdown(element: HTMLElement, announce: (text: string) => void, onZero: () => void): Countdown {
  const value = h('span', { class: 'timer-value' });
  element.append(h('span', { class: 'visually-hidden' }, `${words.timeLeft} `), icon('clock'), value);
  element.setAttribute('role', 'timer');
  element.setAttribute('aria-live', 'off');
  let end: number | null = null;
  let lastAnnounced = Infinity;

  const tick = () => {
    if (end === null) return;
    const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    value.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
    element.classList.toggle('urgent', left <= URGENT_AT_S);
    const threshold = [...ANNOUNCED_AT_S].reverse().find((at) => left <= at);
    if (threshold !== undefined && threshold < lastAnnounced) {
      // Late arrivals hear the next threshold, not those that have passed.
      if (lastAnnounced !== Infinity || left === threshold) announce(announcementFor(threshold));
      lastAnnounced = threshold;
    }
    if (left > 0) return;
    end = null;
    onZero();
  };
  setInterval(tick, 500);

  return {
    set(remainingMs) {
      end = performance.now() + remainingMs;
      element.hidden = false;
      if (lastAnnounced === Infinity && remainingMs / 1000 > ANNOUNCED_AT_S[0]) lastAnnounced = Number.MAX_SAFE_INTEGER;
      tick();
    },
    hide() {
      end = null;
      element.hidden = true;
    },
  };
}

function announcementFor(seconds: number): string {
  return seconds <= 60 ? words.timeLeftMinute : fill(words.timeLeftSpoken, { minutes: seconds / 60 });
}
