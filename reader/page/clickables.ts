import type { ClickableFacts } from '../facts.ts';
import { extraOf, regionOf } from './controls.ts';
import { labelText, nearText, referenced, textOf } from './labels.ts';
import type { Visibility } from './visibility.ts';
import { boxOf } from './visibility.ts';
import { classNames, composedParent, idOf, oneLine } from './composed-tree.ts';

const ROLES = new Set(['button', 'link', 'menuitem', 'option', 'radio', 'tab']);
const BUTTON_TYPES = new Set(['submit', 'button', 'image', 'reset', 'radio']);

/** True for a clickable element. Generic elements count if they are focusable, have a handler or are styled as a button. */
export function isClickable(element: Element): boolean {
  if (element instanceof HTMLInputElement) return BUTTON_TYPES.has(element.type);
  if (element.tagName === 'BUTTON' || element.tagName === 'SUMMARY') return true;
  const role = element.getAttribute('role');
  if (role !== null && ROLES.has(role)) return true;
  if (element.tagName === 'A')
    return element.hasAttribute('href') || element.hasAttribute('onclick') || hasPointer(element);
  if (element.hasAttribute('onclick') || element.hasAttribute('data-identifier'))
    return element.tagName !== 'BODY' && element.tagName !== 'FORM';
  if (element.getAttribute('tabindex') === '0' && hasPointer(element)) return true;
  const classes = classNames(element);
  return (
    (BUTTON_CLASS.test(classes) || ENTRY_CLASS.test(classes) || isShortLabel(element)) && isStyledAsButton(element)
  );
}

const BUTTON_CLASS = /btn|button|submit|sign-?in|log-?in|oauth|social|provider/i;
/** Classes of entries in lists of accounts or workspaces. */
const ENTRY_CLASS = /(^|[\s_-])(user|account|profile|person|member|tenant|workspace|organi[sz]ation)/i;
const MAX_DESCENDANTS = 8;
const MAX_NAME = 25;

/** True for a generic element with nothing but a short text. */
function isShortLabel(element: Element): boolean {
  if (element.tagName !== 'DIV' && element.tagName !== 'SPAN') return false;
  const text = element.childElementCount === 0 ? oneLine(element.textContent, MAX_NAME + 1) : '';
  return text !== '' && text.length <= MAX_NAME;
}

/** True for a small element with a pointer cursor of its own: its handler was added by a script. */
function isStyledAsButton(element: Element): boolean {
  if (!(element instanceof HTMLElement) || element.matches('form, input, label, select, textarea, body')) return false;
  if (element.getElementsByTagName('*').length > MAX_DESCENDANTS || !hasPointer(element)) return false;
  const parent = composedParent(element);
  return parent !== null && !hasPointer(parent) && element.querySelector('a, button, input, [role=button]') === null;
}

/** The facts of a clickable element. */
export function clickableFacts(
  element: Element,
  visibility: Visibility,
  place: { order: number; form: number; selector: string; xpath: string },
): ClickableFacts {
  const text = (name: string): string => oneLine(element.getAttribute(name), 200);
  const type = element instanceof HTMLInputElement || element instanceof HTMLButtonElement ? element.type : '';
  const imageText = imageTextOf(element);
  const lines = linesOf(element);
  const says =
    (type === 'radio' ? labelText(element) || nextText(element) || nearText(element) : '') ||
    lines.join(' ') ||
    slottedText(element) ||
    (element instanceof HTMLInputElement && type !== 'radio' ? oneLine(element.value || text('alt')) : '') ||
    text('aria-label') ||
    referenced(element, 'aria-labelledby') ||
    imageText ||
    text('title');
  return {
    ...place,
    box: boxOf(element),
    region: regionOf(element),
    tag: element.tagName.toLowerCase(),
    type,
    role: element.getAttribute('role') ?? '',
    text: oneLine(says, 200),
    lines,
    ariaLabel: text('aria-label'),
    title: text('title'),
    imageText,
    href: hrefOf(element),
    id: idOf(element),
    name: text('name'),
    classes: classNames(element),
    extra: extraOf(element),
    disabled: element.hasAttribute('disabled') || element.getAttribute('aria-disabled') === 'true',
    visible: visibility.visible && !visibility.transparent,
    checked:
      (element instanceof HTMLInputElement && element.checked) || element.getAttribute('aria-checked') === 'true',
    inText: isInSentence(element),
  };
}

function linesOf(element: Element): string[] {
  if (!(element instanceof HTMLElement) || element instanceof HTMLInputElement) return [];
  return (element.innerText || (element.checkVisibility() ? '' : element.textContent))
    .split('\n')
    .map((line) => oneLine(line, 200))
    .filter(Boolean)
    .slice(0, 6);
}

/** Text assigned to the slots of a button inside a web component. */
function slottedText(element: Element): string {
  const words: string[] = [];
  for (const slot of element.querySelectorAll('slot')) {
    for (const node of slot.assignedNodes({ flatten: true })) words.push(node.textContent ?? '');
  }
  return oneLine(words.join(' '), 200);
}

/** Text right after a radio button without a label. */
function nextText(element: Element): string {
  const next = element.nextSibling;
  if (next instanceof Element) return textOf(next);
  return oneLine(next?.textContent, 100);
}

/** Alternative texts, file names and classes of images inside an element. */
function imageTextOf(element: Element): string {
  const words: string[] = [];
  for (const picture of element.querySelectorAll('img, svg, use, i, [class*=icon]')) {
    words.push(
      picture.getAttribute('alt') ?? '',
      picture.getAttribute('aria-label') ?? '',
      picture.querySelector('title')?.textContent ?? '',
      fileName(picture.getAttribute('src') ?? picture.getAttribute('href') ?? picture.getAttribute('xlink:href') ?? ''),
      classNames(picture),
    );
  }
  return oneLine(words.filter(Boolean).join(' '), 200);
}

function fileName(address: string): string {
  if (address.startsWith('data:')) return '';
  return address.split(/[?]/)[0]?.split('/').pop()?.slice(0, 60) ?? '';
}

function hrefOf(element: Element): string {
  const form = element instanceof HTMLButtonElement || element instanceof HTMLInputElement ? element.form : null;
  const own = element.getAttribute('href') ?? element.getAttribute('formaction') ?? '';
  if (own) return own.slice(0, 500);
  // A form with nothing but a button acts as a link to its action.
  const fields = form?.querySelector(
    'input:not([type=hidden]):not([type=submit]):not([type=button]), select, textarea',
  );
  return form && !fields ? (form.getAttribute('action') ?? '').slice(0, 500) : '';
}

/** True for a link inside a sentence. Blocks beside it are not part of one. */
function isInSentence(element: Element): boolean {
  const parent = composedParent(element);
  if (!parent || element.tagName !== 'A' || parent.querySelectorAll('a').length > 1) return false;
  const inline = [...parent.childNodes].filter((node) => !(node instanceof Element) || isInline(node));
  return oneLine(inline.map((node) => node.textContent).join('')).length > oneLine(element.textContent).length + 15;
}

function isInline(element: Element): boolean {
  return getComputedStyle(element).display.startsWith('inline');
}

function hasPointer(element: Element): boolean {
  return getComputedStyle(element).cursor === 'pointer';
}
