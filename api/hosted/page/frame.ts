import { h } from './dom.ts';
import { icon } from './icons.ts';
import { words } from './words.ts';

/** One screen of the page. */
export interface Screen {
  /** Identifies the content: a screen with the same key is not rendered again, so typed text is kept. */
  key: string;
  content: HTMLElement;
  /** Announced when the screen appears, in addition to what a screen reader reads at the focus. May be empty. */
  announcement: string;
  /** Element to focus; the heading by default. */
  focus?: HTMLElement;
  /** Title of the tab. */
  title: string;
  /** The site shown above the screen; null for none. */
  site: string | null;
}

/** The parts that stay while screens change. */
export interface Frame {
  show(screen: Screen): void;
  /** The network banner; null hides it. */
  banner(text: string | null): void;
  readonly announce: (text: string) => void;
  readonly timer: HTMLElement;
}

/** Renders the frame into the document. */
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
    // Texts of one moment are announced as one: a second text would cut off the first. The region is emptied before, because a
    // repeated text is only spoken if it changed in between.
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

/** A heading that is focused when its screen appears. */
export function heading(text: string): HTMLHeadingElement {
  return h('h1', { tabindex: -1, class: 'heading' }, text);
}
