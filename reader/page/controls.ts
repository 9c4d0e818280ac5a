import type { ControlFacts, Region } from '../facts.ts';
import { labelText, nearText, referenced } from './labels.ts';
import type { Sight } from './visible.ts';
import { boxOf } from './visible.ts';
import { classNames, closest, composedParent, idOf, oneLine } from './walk.ts';

const MAX_OPTIONS = 50;
const NOT_TEXT = new Set([
  'hidden',
  'submit',
  'button',
  'image',
  'reset',
  'checkbox',
  'radio',
  'file',
  'range',
  'color',
]);

/** True for text fields of any kind and selects. */
export function isControl(element: Element): boolean {
  if (element.getAttribute('role') === 'combobox' && element.getAttribute('type') !== 'email')
    return isTypedInto(element);
  if (element instanceof HTMLInputElement) return !NOT_TEXT.has(element.type);
  if (element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement) return true;
  return element.getAttribute('role') === 'textbox' && element.getAttribute('contenteditable') === 'true';
}

/** A combobox is a select that is drawn by a script, unless its author says that it takes a user name. */
function isTypedInto(element: Element): boolean {
  return /user|email|login/i.test(
    `${element.getAttribute('autocomplete') ?? ''} ${element.getAttribute('name') ?? ''}`,
  );
}

/** Everything the rules need to know of a control. What is typed in it is never among that. */
export function controlFacts(
  element: Element,
  sight: Sight,
  place: { order: number; group: number; selector: string },
): ControlFacts {
  const text = (name: string): string => oneLine(element.getAttribute(name), 200);
  const input = element instanceof HTMLInputElement ? element : null;
  const field = element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement ? element : input;
  return {
    ...place,
    box: boxOf(element),
    region: regionOf(element),
    tag: tagOf(element),
    type: input?.type ?? '',
    name: element.getAttribute('name') ?? '',
    id: idOf(element),
    classes: classNames(element),
    autocomplete: text('autocomplete').toLowerCase(),
    inputMode: text('inputmode').toLowerCase(),
    maxLength: input?.maxLength ?? -1,
    pattern: text('pattern'),
    placeholder: text('placeholder'),
    ariaLabel: text('aria-label'),
    label: labelText(element),
    nearText: nearText(element),
    title: text('title'),
    description: referenced(element, 'aria-describedby'),
    extra: extraOf(element),
    required: field?.required === true || element.getAttribute('aria-required') === 'true',
    disabled: field?.disabled === true || element.getAttribute('aria-disabled') === 'true',
    readOnly: input?.readOnly === true,
    invalid: element.getAttribute('aria-invalid') === 'true',
    filled: (input !== null && input.value !== '') || (element instanceof HTMLSelectElement && element.value !== ''),
    options: optionsOf(element),
    focused: element.getRootNode() instanceof Document && document.activeElement === element,
    visible: sight.visible,
    transparent: sight.transparent,
    ariaHidden: ariaHidden(element),
    tabIndex: element instanceof HTMLElement ? element.tabIndex : 0,
  };
}

/** What a list offers to choose; an entry without a value only says that something is to be chosen. */
function optionsOf(element: Element): string[] {
  if (!(element instanceof HTMLSelectElement)) return [];
  return [...element.options]
    .filter((option) => !option.disabled && option.value !== '')
    .slice(0, MAX_OPTIONS)
    .map((option) => oneLine(option.label, 100));
}

/** Which part of the page an element stands in. */
export function regionOf(element: Element): Region {
  for (let at: Element | null = element; at && at !== document.body; at = composedParent(at)) {
    const words = `${idOf(at)} ${classNames(at)}`;
    if (/cookie|consent|gdpr|onetrust|usercentrics|cc-window|didomi/i.test(words) && at.tagName !== 'HTML') {
      return 'consent';
    }
    const role = at.getAttribute('role');
    if (at.tagName === 'DIALOG' || role === 'dialog' || at.getAttribute('aria-modal') === 'true') return 'dialog';
    if (at.tagName === 'MAIN' || role === 'main') return consentAbove(at) ? 'consent' : 'main';
    if (at.tagName === 'FOOTER' || role === 'contentinfo') return 'footer';
    if (at.tagName === 'NAV' || role === 'navigation') return 'nav';
    if (at.tagName === 'HEADER' || role === 'banner') return at.closest('main, dialog, form') ? 'main' : 'header';
  }
  return 'main';
}

function consentAbove(element: Element): boolean {
  return (
    closest(
      element,
      (at) =>
        at.tagName !== 'BODY' &&
        at.tagName !== 'HTML' &&
        /cookie-?(banner|consent|notice)/i.test(`${idOf(at)} ${classNames(at)}`),
    ) !== null
  );
}

/** Names and values of attributes that authors and component libraries put meaning into. */
export function extraOf(element: Element): string {
  const parts: string[] = [];
  for (const { name, value } of element.attributes) {
    if (/^data-|^ng-|^formcontrolname$|^v-model|^:|^jsname$/.test(name) && value.length < 100)
      parts.push(`${name}=${value}`);
  }
  return parts.join(' ').slice(0, 300);
}

function tagOf(element: Element): ControlFacts['tag'] {
  if (element instanceof HTMLInputElement) return 'input';
  if (element instanceof HTMLTextAreaElement) return 'textarea';
  if (element instanceof HTMLSelectElement) return 'select';
  return 'editable';
}

function ariaHidden(element: Element): ControlFacts['ariaHidden'] {
  if (element.getAttribute('aria-hidden') === 'true') return 'self';
  const hidden = closest(element, (each) => each.getAttribute('aria-hidden') === 'true' || each.hasAttribute('inert'));
  return hidden ? 'ancestor' : 'no';
}
