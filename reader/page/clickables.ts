import type { ClickableFacts } from '../facts.ts';
import { extraOf, regionOf } from './controls.ts';
import { labelText, nearText, referenced, textOf } from './labels.ts';
import type { Sight } from './visible.ts';
import { boxOf } from './visible.ts';
import { classNames, composedParent, idOf, oneLine } from './walk.ts';

const ROLES = new Set(['button', 'link', 'menuitem', 'option', 'radio', 'tab']);
const BUTTON_TYPES = new Set(['submit', 'button', 'image', 'reset', 'radio']);

/** True for what is there to be pressed. Plain elements count when they can be focused or carry a handler. */
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
  const named = classNames(element);
  return (NAMED_BUTTON.test(named) || NAMED_PERSON.test(named) || saysOneThing(element)) && isDrawnButton(element);
}

const NAMED_BUTTON = /btn|button|submit|sign-?in|log-?in|oauth|social|provider/i;
/** What authors call an entry of a list of people, or of places to sign in to. */
const NAMED_PERSON = /(^|[\s_-])(user|account|profile|person|member|tenant|workspace|organi[sz]ation)/i;
const MAX_DRAWN_ELEMENTS = 8;
const MAX_NAME = 25;

/** A plain element without any others in it that says as much as a button does. */
function saysOneThing(element: Element): boolean {
  if (element.tagName !== 'DIV' && element.tagName !== 'SPAN') return false;
  const said = element.childElementCount === 0 ? oneLine(element.textContent, MAX_NAME + 1) : '';
  return said !== '' && said.length <= MAX_NAME;
}

/** A plain element with a handler that only the script knows: called a button, shown as one, and small. */
function isDrawnButton(element: Element): boolean {
  if (!(element instanceof HTMLElement) || element.matches('form, input, label, select, textarea, body')) return false;
  if (element.getElementsByTagName('*').length > MAX_DRAWN_ELEMENTS || !hasPointer(element)) return false;
  const parent = composedParent(element);
  return parent !== null && !hasPointer(parent) && element.querySelector('a, button, input, [role=button]') === null;
}

/** What a clickable says and where it leads. */
export function clickableFacts(
  element: Element,
  sight: Sight,
  place: { order: number; form: number; selector: string; xpath: string },
): ClickableFacts {
  const text = (name: string): string => oneLine(element.getAttribute(name), 200);
  const type = element instanceof HTMLInputElement || element instanceof HTMLButtonElement ? element.type : '';
  const imageText = pictureText(element);
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
    visible: sight.visible && !sight.transparent,
    checked:
      (element instanceof HTMLInputElement && element.checked) || element.getAttribute('aria-checked') === 'true',
    inText: standsInText(element),
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

/** What stands in the slots of a button that is a part of a web component: it belongs to the component's own tree. */
function slottedText(element: Element): string {
  const words: string[] = [];
  for (const slot of element.querySelectorAll('slot')) {
    for (const node of slot.assignedNodes({ flatten: true })) words.push(node.textContent ?? '');
  }
  return oneLine(words.join(' '), 200);
}

/** Text beside a radio button that has no label of its own. */
function nextText(element: Element): string {
  const next = element.nextSibling;
  if (next instanceof Element) return textOf(next);
  return oneLine(next?.textContent, 100);
}

/** Alternative texts of pictures inside, and what their files and symbols are called. */
function pictureText(element: Element): string {
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
  // A button that is all there is in its form leads where the form goes.
  const fields = form?.querySelector(
    'input:not([type=hidden]):not([type=submit]):not([type=button]), select, textarea',
  );
  return form && !fields ? (form.getAttribute('action') ?? '').slice(0, 500) : '';
}

/** A link in the middle of a sentence. */
function standsInText(element: Element): boolean {
  const parent = composedParent(element);
  if (!parent || element.tagName !== 'A') return false;
  return (
    oneLine(parent.textContent).length > oneLine(element.textContent).length + 15 &&
    parent.querySelectorAll('a').length === 1
  );
}

function hasPointer(element: Element): boolean {
  return getComputedStyle(element).cursor === 'pointer';
}
