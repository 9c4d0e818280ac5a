import { h } from './dom.ts';
import { icon } from './icons.ts';
import { words } from './words.ts';

/** One screen of the page: what replaces the last one, and where the focus goes. */
export interface Screen {
  /** Names what is shown: a screen of the same key is not drawn again, so nothing typed is lost. */
  key: string;
  content: HTMLElement;
  /** Said politely when the screen appears, beside what the focus makes a screen reader say. May be empty. */
  announcement: string;
  /** Where the keyboard goes on; the heading when it is not given. */
  focus?: HTMLElement;
  /** For the tab's title. */
  title: string;
  /** Shows the site and the time left above the screen. */
  site: string | null;
}

/** The parts that stay while screens change. */
export interface Frame {
  show(screen: Screen): void;
  /** The line about the network; null hides it. */
  banner(text: string | null): void;
  readonly announce: (text: string) => void;
  readonly timer: HTMLElement;
}

/** Builds the frame into the document. */
export function createFrame(root: HTMLElement): Frame {
  const timer = h('div', { class: 'timer', hidden: true });
  const site = h('div', { class: 'site', hidden: true });
  const stage = h('div', { class: 'stage' });
  const banner = h('div', { class: 'banner', hidden: true });
  const live = h('div', { class: 'visually-hidden', role: 'status', 'aria-live': 'polite', 'aria-atomic': 'true' });
  const brand = h('div', { class: 'brand' }, icon('brand', 'brand-mark'), h('span', {}, 'Holdfast'));
  root.replaceChildren(
    h('header', { class: 'top' }, brand, timer),
    h('main', { class: 'card' }, banner, site, stage),
    live,
  );

  let shownKey: string | null = null;
  let shownSite: string | null = null;
  let toSay: string[] = [];
  const announce = (text: string) => {
    if (text === '') return;
    // What comes at one moment is said as one: a second text would cut off the first. And the region is emptied before,
    // because the same text twice is only spoken again when it changes in between.
    if (toSay.length === 0) {
      live.textContent = '';
      setTimeout(() => {
        live.textContent = toSay.join(' ');
        toSay = [];
      }, 60);
    }
    toSay.push(text);
  };

  return {
    timer,
    announce,
    show(screen) {
      if (screen.site !== shownSite) {
        shownSite = screen.site;
        site.hidden = screen.site === null;
        site.replaceChildren(...(screen.site === null ? [] : siteHeader(screen.site)));
      }
      document.title = screen.title;
      if (screen.key === shownKey) return;
      const first = shownKey === null;
      shownKey = screen.key;
      stage.replaceChildren(screen.content);
      announce(screen.announcement);
      const target = screen.focus ?? screen.content.querySelector<HTMLElement>('h1');
      target?.focus({ preventScroll: true });
      if (!first) window.scrollTo(0, 0);
    },
    banner(text) {
      if ((banner.textContent || null) === text) return;
      announce(text ?? words.backLine);
      banner.hidden = text === null;
      banner.replaceChildren(...(text === null ? [] : [icon('offline'), h('span', {}, text)]));
    },
  };
}

function siteHeader(domain: string): HTMLElement[] {
  const letter = domain
    .replace(/^www\./, '')
    .charAt(0)
    .toUpperCase();
  return [
    h('div', { class: 'monogram', 'aria-hidden': 'true' }, letter),
    h(
      'div',
      { class: 'site-text' },
      h('p', { class: 'site-label' }, words.signingInTo),
      h('p', { class: 'site-name' }, h('bdi', {}, domain)),
    ),
    h('p', { class: 'site-why' }, words.onBehalf),
  ];
}

/** A heading that takes the focus when a screen appears. */
export function heading(text: string): HTMLHeadingElement {
  return h('h1', { tabindex: -1, class: 'heading' }, text);
}
