/// <reference lib="dom" />

/*
 * Functions that run inside a page. Each stands alone and declares no function inside itself: they are sent as source,
 * and what a bundler adds around inner functions would not be there.
 */

/** Number of characters in a control: tells whether it must be cleared, without reading what is in it. */
export function valueLength(element: Element): number {
  return element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement ? element.value.length : 0;
}

/** What a control is at this moment, as far as that tells whether a password belongs into it. */
export function describeControl(element: Element): { tag: string; type: string; name: string } {
  const type = element instanceof HTMLInputElement ? element.type : '';
  return { tag: element.localName, type, name: element.getAttribute('name') ?? element.id };
}

/** Whether an element is a list to choose from: one of the browser's, or one that a script draws; null for any other. */
export function listKind(element: Element): 'native' | 'drawn' | null {
  if (element instanceof HTMLSelectElement) return 'native';
  const isTypedInto = element instanceof HTMLInputElement && !element.readOnly;
  return !isTypedInto && element.matches('[role=combobox], [aria-haspopup=listbox]') ? 'drawn' : null;
}

/**
 * True when nothing of an element lies outside of its window, or is cut off by what it scrolls in. In a frame, the frame may
 * lie outside of the page's view.
 */
export function isFullyVisible(element: Element): boolean {
  if (window.top !== window) return false;
  const box = element.getBoundingClientRect();
  const inWindow = box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
  if (!inWindow) return false;
  for (let around = element.parentElement; around !== null; around = around.parentElement) {
    if (getComputedStyle(around).overflow === 'visible' || around === document.documentElement) continue;
    const view = around.getBoundingClientRect();
    if (box.top < view.top || box.bottom > view.bottom || box.left < view.left || box.right > view.right) return false;
  }
  return true;
}

/** True when a list stands on the entry of this name or value. */
export function hasSelectedOption(element: Element, name: string): boolean {
  const option = element instanceof HTMLSelectElement ? element.selectedOptions[0] : undefined;
  return option !== undefined && (option.label.trim() === name.trim() || option.value === name);
}

/** True when keys would go into the element. */
export function hasFocus(element: Element): boolean {
  const root = element.getRootNode();
  const active = root instanceof ShadowRoot || root instanceof Document ? root.activeElement : null;
  return active !== null && (active === element || element.contains(active));
}

/**
 * Where a click reaches the element, or something inside it or its label: pixels from the top left of its bounding box;
 * null when something else would take it. A link that is broken over lines is met on one of them: the middle of its box
 * may lie beside the words.
 */
export function findClickPoint(element: Element): { x: number; y: number } | null {
  const whole = element.getBoundingClientRect();
  const passesOn = getComputedStyle(element).pointerEvents === 'none';
  const parts = [whole, ...Array.from(element.getClientRects())];
  for (const part of parts) {
    const x = part.left + part.width / 2;
    const y = part.top + part.height / 2;
    let hit = document.elementFromPoint(x, y);
    // A component's own tree tells which part of it lies there; what stands in a slot of it belongs to the tree around.
    for (let inner = hit?.shadowRoot?.elementFromPoint(x, y); inner && inner !== hit;) {
      hit = inner;
      inner = hit.shadowRoot?.elementFromPoint(x, y);
    }
    if (hit === null) continue;
    const isLabel = hit.closest('label')?.control === element;
    // A bare text in a slot is told of as the component that it was given to.
    const given = Array.from(hit.childNodes).find(
      (node) => node instanceof Text && node.data.trim() !== '' && node.assignedSlot,
    );
    let around: Element | null = given instanceof Text && hit.shadowRoot !== null ? given.assignedSlot : hit;
    while (around !== null && around !== element) {
      const root: Node = around.getRootNode();
      around = around.assignedSlot ?? around.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
    }
    if (around !== null || isLabel || (passesOn && hit.contains(element)))
      return { x: x - whole.left, y: y - whole.top };
  }
  return null;
}

/** True of a box that is ticked, drawn ones included. */
export function isChecked(element: Element): boolean {
  return element instanceof HTMLInputElement ? element.checked : element.getAttribute('aria-checked') === 'true';
}

/** True when a click only marks the element as chosen: a radio button, or what stands for one. */
export function onlySelects(element: Element): boolean {
  const control = element instanceof HTMLLabelElement ? element.control : element;
  const inner = control?.querySelector('input[type=radio], [role=radio]') ?? null;
  const marking = control instanceof HTMLInputElement && (control.type === 'radio' || control.type === 'checkbox');
  return marking || control?.getAttribute('role') === 'radio' || inner !== null || element instanceof HTMLOptionElement;
}

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
