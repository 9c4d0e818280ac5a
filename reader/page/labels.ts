import { composedParent, renderedChildren, matchesWithin, oneLine } from './composed-tree.ts';

/** Text of a control's labels and of the elements in `aria-labelledby`. */
export function labelText(control: Element): string {
  const parts: string[] = [];
  if ('labels' in control && control.labels instanceof NodeList) {
    const labels = [...control.labels].filter((label) => label instanceof Element);
    // A hidden copy of the form may repeat the control's id.
    const shown = labels.filter((label) => label.checkVisibility());
    for (const label of shown.length > 0 ? shown : labels) parts.push(labelWords(label, control));
  }
  parts.push(referenced(control, 'aria-labelledby', (each) => !control.contains(each)));
  if (parts.join('') === '') parts.push(headerCell(control));
  const seen = new Set<string>();
  return oneLine(parts.filter((part) => part && !seen.has(part) && seen.add(part)).join(' '), 200);
}

/** The header of a table row, or the term of a description list entry, with a single control. */
function headerCell(control: Element): string {
  const cell = control.closest('td, dd');
  const header = cell?.previousElementSibling;
  if (!cell || !header?.matches('th, dt') || containsControl(header)) return '';
  return cell.querySelectorAll('input:not([type=hidden]), select, textarea').length === 1 ? textOf(header) : '';
}

/** Text of the elements whose ids an attribute lists. */
export function referenced(
  element: Element,
  attribute: string,
  counts: (each: Element) => boolean = () => true,
): string {
  const ids = (element.getAttribute(attribute) ?? '').split(/\s+/).filter(Boolean);
  const root = element.getRootNode();
  if (!(root instanceof Document || root instanceof ShadowRoot)) return '';
  const named = ids.map((id) => root.getElementById(id)).filter((each) => each !== null && counts(each));
  return oneLine(named.map(textOf).join(' '), 300);
}

const NO_LABEL = 'h1, h2, h3, h4, [role=heading], [role=alert], [aria-live], [class*=error], [class*=alert], ul, ol, p';

/** The text that reads as the label if there is none in the markup: right before the control, else right after it. */
export function nearText(control: Element): string {
  let at: Element | null = control;
  for (let level = 0; at && level < 4; level += 1) {
    for (let before: ChildNode | null = at.previousSibling; before; before = before.previousSibling) {
      if (before instanceof Element && containsControl(before))
        return labelBesideButton(before) || (level === 0 ? textAfter(control) : '');
      const text = before instanceof Element ? textOf(before) : oneLine(before.textContent, 80);
      if (before.nodeType === Node.COMMENT_NODE || !hasWords(text) || isCopyOfValue(text, control)) continue;
      if (before instanceof Element && before.matches(NO_LABEL)) return isParagraphLabel(before, text) ? text : '';
      return text.length <= 80 ? text : '';
    }
    const floating = level === 0 || (level === 1 && !isBelow(at.nextElementSibling, control)) ? textAfter(at) : '';
    if (floating) return floating;
    at = composedParent(at);
    if (at && (at.tagName === 'FORM' || at.tagName === 'BODY')) return '';
  }
  return '';
}

/** The label in a row that also has a small button, as `Forgot password?` or `Resend`. */
function labelBesideButton(row: Element): string {
  if (row.matches(`${NO_LABEL}, ${NOT_LABEL_TEXT}`) || matchesWithin(row, FIELD)) return '';
  const text = renderedText(row, NOT_LABEL_TEXT);
  return isShortLabel(text) ? text : '';
}

/** True for a paragraph of a word or two, which labels the field below it; a sentence is about the whole form. */
function isParagraphLabel(element: Element, text: string): boolean {
  return element.tagName === 'P' && isShortLabel(text);
}

function isShortLabel(text: string): boolean {
  return text.length <= 32 && !/[.!?。]$/.test(text);
}

/** The text of a floating label, which follows its control. */
function textAfter(element: Element): string {
  const next = element.nextElementSibling;
  if (!next || containsControl(next) || next.matches('button, a, [role=button]')) return '';
  const text = textOf(next);
  return text.length <= 60 && hasWords(text) ? text : '';
}

/** False for a separator, such as a dash between the boxes of a code. */
function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** True for what was typed, drawn beside the control that holds it. */
function isCopyOfValue(text: string, control: Element): boolean {
  return control instanceof HTMLInputElement && control.value !== '' && text.replace(/\s/g, '') === control.value;
}

/** True for an element below a control, which is an error or a help text; a floating label overlays it or is above it. */
function isBelow(element: Element | null, control: Element): boolean {
  const drawn = element?.getBoundingClientRect();
  return drawn !== undefined && drawn.height > 0 && drawn.top >= control.getBoundingClientRect().bottom;
}

const FIELD = 'input:not([type=hidden]), select, textarea';

function containsControl(element: Element): boolean {
  return matchesWithin(element, `${FIELD}, button, [role=button]`);
}

/** Ligature icons, whose text (`visibility_off`) is not a label. */
const NAMED_ICONS = '[role=img], i[class*=icon], [class*=material-icons], [class*=material-symbols]';

const NO_WORDS = 'script, style, noscript, template';
const NOT_LABEL_TEXT = `a, button, input, select, [role=button], [role=alert], ${NAMED_ICONS}, ${NO_WORDS}`;

/** A label's text without links, buttons, icons and controls inside it, and without duplicates. */
function labelWords(label: Element, control: Element): string {
  if (!matchesWithin(label, `${NOT_LABEL_TEXT}, slot`) && !label.contains(control)) return textOf(label);
  return (
    renderedText(label, `${NOT_LABEL_TEXT}, [aria-hidden=true]`, control) ||
    renderedText(label, NOT_LABEL_TEXT, control)
  );
}

/** The text of an element as rendered, including slots and shadow roots, without that of excluded descendants. */
function renderedText(element: Element, without: string, control?: Element): string {
  const words = new Set<string>();
  const collect = (node: Node): void => {
    if (node.nodeType === Node.TEXT_NODE) words.add(oneLine(node.textContent));
    if (node !== element && (!(node instanceof Element) || node === control || node.matches(without))) return;
    for (const child of renderedChildren(node)) collect(child);
  };
  collect(element);
  return oneLine([...words].join(' '), 200);
}

/** The visible text of an element, else its text content (for visually hidden labels), else its rendered text. */
export function textOf(element: Element | null): string {
  if (!element || element.matches(NO_WORDS)) return '';
  const shown = element instanceof HTMLElement ? oneLine(element.innerText) : '';
  return shown || oneLine(element.textContent) || renderedText(element, NO_WORDS);
}
