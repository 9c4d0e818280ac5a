import { h } from './dom.ts';
import { icon } from './icons.ts';
import { fill, words } from './words.ts';

/** Spoken when this many seconds are left, and never otherwise: a clock that talks is noise. */
const SPOKEN_AT = [5 * 60, 60] as const;
/** From here on the clock looks urgent, in seconds. */
const URGENT_AT = 60;

/** The time left until the flow expires. */
export interface Countdown {
  /** Sets the end, counted from now by this device's own clock. */
  set(remainingMs: number): void;
  hide(): void;
}

/** Shows the time left in `element`; `onZero` is called once when it runs out. */
export function createCountdown(element: HTMLElement, announce: (text: string) => void, onZero: () => void): Countdown {
  const value = h('span', { class: 'timer-value' });
  element.append(h('span', { class: 'visually-hidden' }, `${words.timeLeft} `), icon('clock'), value);
  element.setAttribute('role', 'timer');
  element.setAttribute('aria-live', 'off');
  let end: number | null = null;
  let spoken = Infinity;

  const tick = () => {
    if (end === null) return;
    const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    value.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
    element.classList.toggle('urgent', left <= URGENT_AT);
    const mark = [...SPOKEN_AT].reverse().find((at) => left <= at);
    if (mark !== undefined && mark < spoken) {
      // Someone who arrives late hears the mark that is next, not those that have passed.
      if (spoken !== Infinity || left === mark) announce(spokenText(mark));
      spoken = mark;
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
      if (spoken === Infinity && remainingMs / 1000 > SPOKEN_AT[0]) spoken = Number.MAX_SAFE_INTEGER;
      tick();
    },
    hide() {
      end = null;
      element.hidden = true;
    },
  };
}

function spokenText(seconds: number): string {
  return seconds <= 60 ? words.timeLeftMinute : fill(words.timeLeftSpoken, { minutes: seconds / 60 });
}
