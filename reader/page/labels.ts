import { composedParent, drawnIn, holds, oneLine } from './walk.ts';

/** Text of the label elements of a control and of what `aria-labelledby` names. */
export function labelText(control: Element): string {
  const parts: string[] = [];
  if ('labels' in control && control.labels instanceof NodeList) {
    for (const label of control.labels) if (label instanceof Element) parts.push(ownWords(label, control));
  }
  parts.push(referenced(control, 'aria-labelledby', (each) => !control.contains(each)));
  if (parts.join('') === '') parts.push(headerCell(control));
  const seen = new Set<string>();
  return oneLine(parts.filter((part) => part && !seen.has(part) && seen.add(part)).join(' '), 200);
}

/** The header of the table row, or the term of the list, that a control is the only one of. */
function headerCell(control: Element): string {
  const cell = control.closest('td, dd');
  const header = cell?.previousElementSibling;
  if (!cell || !header?.matches('th, dt') || holdsControl(header)) return '';
  return cell.querySelectorAll('input:not([type=hidden]), select, textarea').length === 1 ? textOf(header) : '';
}

/** Text of the elements whose ids an attribute lists. What stands in a control itself is what it shows, and names it no better. */
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

/** What a person reads as the label when none is marked up: the text before the control, else the text right after it. */
export function nearText(control: Element): string {
  let at: Element | null = control;
  for (let level = 0; at && level < 4; level += 1) {
    for (let before: ChildNode | null = at.previousSibling; before; before = before.previousSibling) {
      if (before instanceof Element && holdsControl(before)) return level === 0 ? after(control) : '';
      const text = before instanceof Element ? textOf(before) : oneLine(before.textContent, 80);
      if (before.nodeType === Node.COMMENT_NODE || !text) continue;
      if (before instanceof Element && before.matches(NO_LABEL)) return isParagraphLabel(before, text) ? text : '';
      return text.length <= 80 ? text : '';
    }
    const floating = level === 0 || (level === 1 && !isBelow(at.nextElementSibling, control)) ? after(at) : '';
    if (floating) return floating;
    at = composedParent(at);
    if (at && (at.tagName === 'FORM' || at.tagName === 'BODY')) return '';
  }
  return '';
}

/** A word or two in a paragraph of their own name the field below; a sentence says something of the whole form. */
function isParagraphLabel(element: Element, text: string): boolean {
  return element.tagName === 'P' && text.length <= 32 && !/[.!?。]$/.test(text);
}

/** A floating label stands after its control. */
function after(element: Element): string {
  const next = element.nextElementSibling;
  if (!next || holdsControl(next) || next.matches('button, a, [role=button]')) return '';
  const text = textOf(next);
  return text.length <= 60 ? text : '';
}

/** What stands under a control and apart from it says what is wrong with it, or helps; a label that floats lies over it or above. */
function isBelow(element: Element | null, control: Element): boolean {
  const drawn = element?.getBoundingClientRect();
  return drawn !== undefined && drawn.height > 0 && drawn.top >= control.getBoundingClientRect().bottom;
}

function holdsControl(element: Element): boolean {
  return holds(element, 'input:not([type=hidden]), select, textarea, button, [role=button]');
}

/** Icons of a font that draws a picture for its name: `visibility_off` is not to be read. */
const NAMED_ICONS = '[role=img], i[class*=icon], [class*=material-icons], [class*=material-symbols]';

const NO_WORDS = 'script, style, noscript, template';
const NOT_OF_LABEL = `a, button, input, select, [role=button], [role=alert], ${NAMED_ICONS}, ${NO_WORDS}`;

/** A label's words without those of the links, buttons, icons and controls inside it; what is drawn twice is said once. */
function ownWords(label: Element, control: Element): string {
  if (!holds(label, `${NOT_OF_LABEL}, slot`) && !label.contains(control)) return textOf(label);
  return wordsIn(label, `${NOT_OF_LABEL}, [aria-hidden=true]`, control) || wordsIn(label, NOT_OF_LABEL, control);
}

/** The words in an element as they are drawn, in slots and shadow roots as well, without those of some elements inside it. */
function wordsIn(element: Element, without: string, control?: Element): string {
  const words = new Set<string>();
  const collect = (node: Node): void => {
    if (node.nodeType === Node.TEXT_NODE) words.add(oneLine(node.textContent));
    if (node !== element && (!(node instanceof Element) || node === control || node.matches(without))) return;
    for (const child of drawnIn(node)) collect(child);
  };
  collect(element);
  return oneLine([...words].join(' '), 200);
}

/** What an element shows; a visually hidden one still says what it is for, and so does what a component draws or is given. */
export function textOf(element: Element | null): string {
  if (!element || element.matches(NO_WORDS)) return '';
  const shown = element instanceof HTMLElement ? oneLine(element.innerText) : '';
  return shown || oneLine(element.textContent) || wordsIn(element, NO_WORDS);
}
