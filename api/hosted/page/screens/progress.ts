import { emphasize, h } from '../dom.ts';
import { heading, type Screen } from '../frame.ts';
import { icon } from '../icons.ts';
import { fill, words } from '../words.ts';

/** A reassuring text appears after this time, in milliseconds. */
const SLOW_MS = 12_000;

/** Shown while the code is exchanged. */
export function openingScreen(): Screen {
  return {
    key: 'opening',
    content: h(
      'section',
      { class: 'screen' },
      spinner(),
      heading(words.openingLink),
      h('p', { class: 'lead' }, words.openingLinkText),
    ),
    announcement: words.openingLinkText,
    title: words.title,
    site: null,
  };
}

/** Shown while Holdfast works: looking for the form (`discovering`) or submitting what was entered. */
export function progressScreen(kind: 'discovering' | 'submitting', domain: string): Screen {
  const title = kind === 'discovering' ? words.discovering : words.submitting;
  const text = kind === 'discovering' ? words.discoveringText : words.submittingText;
  const slow = h('p', { class: 'slow', role: 'status' });
  const content = h(
    'section',
    { class: 'screen' },
    heading(title),
    h('p', { class: 'lead' }, ...emphasize(text, domain)),
    steps(kind === 'discovering' ? 0 : 2),
    slow,
  );
  setTimeout(() => {
    if (content.isConnected) slow.textContent = words.slow;
  }, SLOW_MS);
  return { key: kind, content, announcement: fill(text, { domain }), title: `${title} · Holdfast`, site: domain };
}

function steps(current: number): HTMLElement {
  const names = [words.stepOpen, words.stepDetails, words.stepCheck, words.stepDone];
  return h(
    'ol',
    { class: 'steps' },
    ...names.map((name, index) => {
      const state = index < current ? 'done' : index === current ? 'now' : 'next';
      return h(
        'li',
        { class: `step step-${state}`, 'aria-current': state === 'now' ? 'step' : null },
        h('span', { class: 'step-mark' }, state === 'done' ? icon('check') : state === 'now' ? spinner() : null),
        h('span', {}, name, h('span', { class: 'visually-hidden' }, ` (${words.stepState[state]})`)),
      );
    }),
  );
}

/** A decorative spinner. */
export function spinner(): HTMLElement {
  return h('span', { class: 'spinner', 'aria-hidden': 'true' });
}
