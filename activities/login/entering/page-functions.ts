/// <reference lib="dom" />

/*
 * Functions that run in a page. Each is self-contained, because it is sent as source; inner functions are only passed on inline,
 * because helpers that a bundler adds for named ones would be missing.
 */

/** The browser's own complaint about the value in the focused field, for which it does not submit the form; null if there is none. */
export function validationFault(): string | null {
  const field = document.activeElement;
  if (!(field instanceof HTMLInputElement) || field.form === null || field.form.noValidate) return null;
  const isRefused = field.value !== '' && !field.validity.valid;
  return isRefused ? field.validationMessage : null;
}

/** Number of characters in a control: tells whether it must be cleared, without reading its text. */
export function valueLength(element: Element): number {
  return element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement ? element.value.length : 0;
}

/** Whether an element is rendered, however small or transparent. */
export function isRendered(element: Element): boolean {
  return element.checkVisibility({ visibilityProperty: true });
}

/** Up to `count` visible inputs from the first one on. */
export function inputsFrom(first: Element, count: number): Element[] {
  const root = first.getRootNode();
  if (!(root instanceof Document || root instanceof ShadowRoot)) return [];
  const inputs = Array.from(root.querySelectorAll('input')).filter((each) => each === first || each.checkVisibility());
  const start = inputs.findIndex((each) => each === first);
  return inputs.slice(start, start + count);
}

/** Describes a control, to decide whether a password may be typed into it. */
export function describeControl(element: Element): { tag: string; type: string; name: string } {
  const type = element instanceof HTMLInputElement ? element.type : '';
  return { tag: element.localName, type, name: element.getAttribute('name') ?? element.id };
}

/** Whether an element is a native or scripted list; null for any other element. */
export function listKind(element: Element): 'native' | 'scripted' | null {
  if (element instanceof HTMLSelectElement) return 'native';
  const isTypedInto = element instanceof HTMLInputElement && !element.readOnly;
  return !isTypedInto && element.matches('[role=combobox], [aria-haspopup=listbox]') ? 'scripted' : null;
}

/** Whether no part of an element is outside the viewport or clipped by a scroll container. Unknown, so false, within a frame. */
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

/** Whether the selected option of a list has this label or value. */
export function hasSelectedOption(element: Element, name: string): boolean {
  const option = element instanceof HTMLSelectElement ? element.selectedOptions[0] : undefined;
  return option !== undefined && (option.label.trim() === name.trim() || option.value === name);
}

/** Whether the element or a descendant has the focus. */
export function hasFocus(element: Element): boolean {
  const root = element.getRootNode();
  const active = root instanceof ShadowRoot || root instanceof Document ? root.activeElement : null;
  return active !== null && (active === element || element.contains(active));
}

/**
 * Where a click reaches the element, a descendant, or its label: pixels from the top left of its bounding box; null if another
 * element would receive it. The boxes of each line are tried too: the center of a link that wraps may be outside its text.
 */
export function findClickPoint(element: Element): { x: number; y: number } | null {
  const whole = element.getBoundingClientRect();
  const ignoresPointer = getComputedStyle(element).pointerEvents === 'none';
  const parts = [whole, ...Array.from(element.getClientRects())];
  // Some buttons lie below a transparent element of their size that takes their clicks.
  const coversExactly = (other: Element): boolean => {
    const { left, top, width, height } = other.getBoundingClientRect();
    const offsets = [left - whole.left, top - whole.top, width - whole.width, height - whole.height];
    return other.parentElement === element.parentElement && offsets.every((offset) => Math.abs(offset) <= 2);
  };
  for (const part of parts) {
    const x = part.left + part.width / 2;
    const y = part.top + part.height / 2;
    let hit = document.elementFromPoint(x, y);
    // Descend into shadow roots. Slotted elements belong to the outer tree.
    for (let inner = hit?.shadowRoot?.elementFromPoint(x, y); inner && inner !== hit;) {
      hit = inner;
      inner = hit.shadowRoot?.elementFromPoint(x, y);
    }
    if (hit === null) continue;
    const isLabel = hit.closest('label')?.control === element;
    // For text directly in a slot, the browser reports the host of the slot.
    const slotted = Array.from(hit.childNodes).find(
      (node) => node instanceof Text && node.data.trim() !== '' && node.assignedSlot,
    );
    let ancestor: Element | null = slotted instanceof Text && hit.shadowRoot !== null ? slotted.assignedSlot : hit;
    while (ancestor !== null && ancestor !== element) {
      const root: Node = ancestor.getRootNode();
      ancestor = ancestor.assignedSlot ?? ancestor.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
    }
    if (ancestor !== null || isLabel || coversExactly(hit) || (ignoresPointer && hit.contains(element)))
      return { x: x - whole.left, y: y - whole.top };
  }
  return null;
}

/** Whether a checkbox, native or scripted, is checked. */
export function isChecked(element: Element): boolean {
  return element instanceof HTMLInputElement ? element.checked : element.getAttribute('aria-checked') === 'true';
}

/** Whether a click only selects the element, as with a radio button, instead of submitting a choice. */
export function onlySelects(element: Element): boolean {
  const control = element instanceof HTMLLabelElement ? element.control : element;
  const inner = control?.querySelector('input[type=radio], [role=radio]') ?? null;
  const marking = control instanceof HTMLInputElement && (control.type === 'radio' || control.type === 'checkbox');
  return marking || control?.getAttribute('role') === 'radio' || inner !== null || element instanceof HTMLOptionElement;
}

/** Which elements of a document may receive keys: one, all, or those boxes. */
export type KeyTarget = 'this element' | 'any element' | Element[];

/** A lock on the keys of one document. */
export interface KeyLock {
  abort: AbortController;
  /** Whether a key was headed for another element. It was dropped. */
  hasStrayKey: boolean;
  /** Cross-origin frames that are hidden meanwhile, because a hidden frame cannot have the focus, and their style. */
  hidden: { frame: HTMLElement; style: string | null }[];
}

/**
 * Locks the keys that reach a document to an element (a field, or the frame that contains it): the focus returns if it moves, keys
 * for other elements are dropped, and other cross-origin frames are hidden. With `any element` only the frames are hidden: code
 * inputs move the focus between their boxes.
 */
export function lockKeys(element: Element, target: KeyTarget): KeyLock {
  const lock: KeyLock = { abort: new AbortController(), hasStrayKey: false, hidden: [] };
  const options = { capture: true, signal: lock.abort.signal };
  if (target !== 'any element') {
    const receivers = target === 'this element' ? [element] : target;
    window.addEventListener(
      'focusin',
      (event) => {
        const strays = !event.composedPath().some((each) => each instanceof Element && receivers.includes(each));
        if (strays && element instanceof HTMLElement) element.focus();
      },
      options,
    );
    for (const type of ['keydown', 'keypress', 'keyup', 'beforeinput'])
      window.addEventListener(
        type,
        (event) => {
          if (event.composedPath().some((each) => each instanceof Element && receivers.includes(each))) return;
          event.preventDefault();
          event.stopImmediatePropagation();
          // A keyup may belong to a key pressed before the lock.
          if (type !== 'keyup') lock.hasStrayKey = true;
        },
        options,
      );
  }
  for (const frame of Array.from(document.querySelectorAll('iframe, frame'))) {
    const isSameOrigin = frame instanceof HTMLIFrameElement && frame.contentDocument !== null;
    if (frame === element || isSameOrigin || !(frame instanceof HTMLElement)) continue;
    lock.hidden.push({ frame, style: frame.getAttribute('style') });
    frame.style.setProperty('display', 'none', 'important');
  }
  return lock;
}

/** Releases a lock. False if a key was headed for another element. */
export function unlockKeys(lock: KeyLock): boolean {
  lock.abort.abort();
  for (const { frame, style } of lock.hidden) {
    if (style === null) frame.removeAttribute('style');
    else frame.setAttribute('style', style);
  }
  return !lock.hasStrayKey;
}
