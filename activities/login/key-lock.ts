/// <reference lib="dom" />
/*
 * Runs inside a page, as page-checks.ts does; functions here are passed on at once, so that a bundler adds nothing to them.
 */

/** Keys of one document that go to one element alone. */
export interface KeyLock {
  ending: AbortController;
  /** Whether a key was on its way to something else. It has not arrived. */
  strayed: boolean;
  /** Frames of other sites that are not shown meanwhile, and how they were: what is not shown cannot have the focus. */
  hidden: { frame: HTMLElement; style: string | null }[];
}

/**
 * Keeps the keys that reach a document for one element of it (a field, or the frame that holds the field): the focus comes back when
 * something else takes it, what would reach another element is dropped, and frames of other sites beside it are not shown. A `spread`
 * document moves the focus itself, as a code over its boxes: of that one only the frames are not shown.
 */
export function lockKeys(element: Element, keys: 'for the element' | 'spread'): KeyLock {
  const lock: KeyLock = { ending: new AbortController(), strayed: false, hidden: [] };
  const options = { capture: true, signal: lock.ending.signal };
  if (keys === 'for the element') {
    window.addEventListener(
      'focusin',
      (event) => {
        if (!event.composedPath().includes(element) && element instanceof HTMLElement) element.focus();
      },
      options,
    );
    for (const type of ['keydown', 'keypress', 'keyup', 'beforeinput'])
      window.addEventListener(
        type,
        (event) => {
          if (event.composedPath().includes(element)) return;
          event.preventDefault();
          event.stopImmediatePropagation();
          // What lets go of a key that was pressed before is no key of ours.
          if (type !== 'keyup') lock.strayed = true;
        },
        options,
      );
  }
  for (const frame of Array.from(document.querySelectorAll('iframe, frame'))) {
    const isOwn = frame instanceof HTMLIFrameElement && frame.contentDocument !== null;
    if (frame === element || isOwn || !(frame instanceof HTMLElement)) continue;
    lock.hidden.push({ frame, style: frame.getAttribute('style') });
    frame.style.setProperty('display', 'none', 'important');
  }
  return lock;
}

/** Ends a lock; answers whether every key has gone where it should. */
export function unlockKeys(lock: KeyLock): boolean {
  lock.ending.abort();
  for (const { frame, style } of lock.hidden) {
    if (style === null) frame.removeAttribute('style');
    else frame.setAttribute('style', style);
  }
  return !lock.strayed;
}
