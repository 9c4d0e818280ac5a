/// <reference lib="dom" />
/*
 * Functions that run inside a page. Each stands alone and declares no function inside itself: they are sent as source,
 * and what a bundler adds around inner functions would not be there.
 */

/** Number of characters in a control: tells whether it must be cleared, without reading what is in it. */
export function lengthOfValue(element: Element): number {
  return element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement ? element.value.length : 0;
}

/** True when keys would go into the element. */
export function hasFocus(element: Element): boolean {
  const root = element.getRootNode();
  const active = root instanceof ShadowRoot || root instanceof Document ? root.activeElement : null;
  return active !== null && (active === element || element.contains(active));
}

/** True when a click at the element's centre reaches it, or something inside it or around it as its label. */
export function takesClick(element: Element): boolean {
  const box = element.getBoundingClientRect();
  const root = element.getRootNode();
  if (!(root instanceof Document) && !(root instanceof ShadowRoot)) return false;
  const hit = root.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  if (hit === null) return false;
  if (hit === element || element.contains(hit) || hit.contains(element)) return true;
  const label = hit.closest('label');
  return label !== null && label.control === element;
}

/** True when a click only marks the element as chosen: a radio button, or what stands for one. */
export function onlyMarks(element: Element): boolean {
  const control = element instanceof HTMLLabelElement ? element.control : element;
  const inner = control?.querySelector('input[type=radio], [role=radio]') ?? null;
  const marking = control instanceof HTMLInputElement && (control.type === 'radio' || control.type === 'checkbox');
  return marking || control?.getAttribute('role') === 'radio' || inner !== null || element instanceof HTMLOptionElement;
}
