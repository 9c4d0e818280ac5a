import type { ControlFacts, Region } from '../facts.ts';
import { customOptions, isCustomSelect, hasSelectedOption } from './custom-selects.ts';
import { labelText, nearText, referenced } from './labels.ts';
import type { Visibility } from './visibility.ts';
import { boxOf } from './visibility.ts';
import { classNames, closest, composedParent, idOf, oneLine } from './composed-tree.ts';

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

/** True for text fields of any kind, and selects. */
export function isControl(element: Element): boolean {
  if (isCustomSelect(element)) return true;
  if (element.getAttribute('role') === 'combobox' && element.getAttribute('type') !== 'email')
    return acceptsUsername(element);
  if (element instanceof HTMLInputElement) return !NOT_TEXT.has(element.type);
  if (element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement) return true;
  return element.getAttribute('role') === 'textbox' && element.getAttribute('contenteditable') === 'true';
}

/** A combobox is a custom select, unless its attributes say that it takes a user name. */
function acceptsUsername(element: Element): boolean {
  return /user|email|login/i.test(
    `${element.getAttribute('autocomplete') ?? ''} ${element.getAttribute('name') ?? ''}`,
  );
}

/** The facts of a control, without its value. */
export function controlFacts(
  element: Element,
  visibility: Visibility,
  place: { order: number; form: number; selector: string },
  selectorOf: (element: Element) => string,
): ControlFacts {
  const text = (name: string): string => oneLine(element.getAttribute(name), 200);
  const input = element instanceof HTMLInputElement ? element : null;
  const field = element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement ? element : input;
  const captcha = captchaImage(element);
  const picture = captcha ?? imageOfTextSize(element);
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
    disabled: element.matches(':disabled') || element.getAttribute('aria-disabled') === 'true',
    readOnly: input?.readOnly === true && !isCustomSelect(input),
    opensOnFocus: ['onfocus', 'onclick', 'onmousedown', 'ontouchstart'].some((name) => /readonly/i.test(text(name))),
    covered: isCovered(element),
    besidePicture: captcha !== null,
    picture: picture === null ? null : selectorOf(picture),
    invalid: element.getAttribute('aria-invalid') === 'true',
    filled: isFilled(element),
    options: optionsOf(element),
    focused: element.getRootNode() instanceof Document && document.activeElement === element,
    visible: visibility.visible,
    transparent: visibility.transparent,
    ariaHidden: ariaHidden(element),
    tabIndex: element instanceof HTMLElement ? element.tabIndex : 0,
  };
}

function isFilled(element: Element): boolean {
  if (isCustomSelect(element)) return hasSelectedOption(element);
  return (element instanceof HTMLInputElement || element instanceof HTMLSelectElement) && element.value !== '';
}

/** The options of a list; one without a value is a placeholder. */
function optionsOf(element: Element): string[] {
  if (isCustomSelect(element)) return customOptions(element);
  if (!(element instanceof HTMLSelectElement)) return [];
  return [...element.options]
    .filter((option) => !option.disabled && option.value !== '')
    .slice(0, MAX_OPTIONS)
    .map((option) => oneLine(option.label, 100));
}

const CAPTCHA_IMAGE =
  /[ck]aptcha|verif|vcode|authcode|login-?code|img-?code|code-?img|code-?image|checkcode|validate|securimage|rand|yzm/i;
const QR_CODE = /(^|[^a-z])qr/i;
const IMAGES = 'img, canvas';

/** The captcha image next to a field, by its name. */
function captchaImage(element: Element): Element | null {
  for (const part of partsOf(element)) {
    const found = [...part.querySelectorAll(IMAGES)].find(isCaptchaImage);
    if (found !== undefined) return found;
  }
  return null;
}

/** The image next to a field that has the size of a line of characters. */
function imageOfTextSize(element: Element): Element | null {
  for (const part of partsOf(element)) {
    for (const image of part.querySelectorAll(IMAGES)) {
      const { width, height } = image.getBoundingClientRect();
      if (width >= 40 && width <= 400 && height >= 16 && height <= 150 && width > 1.2 * height) return image;
    }
  }
  return null;
}

/** The small parts of the page around a field that contain no other field, the smallest first. */
function partsOf(element: Element): Element[] {
  const parts: Element[] = [];
  let at = composedParent(element);
  for (let level = 0; at && level < 3; level += 1, at = composedParent(at)) {
    if (at.querySelectorAll('input:not([type=hidden]), select, textarea').length > 1) break;
    parts.push(at);
  }
  return parts;
}

function isCaptchaImage(image: Element): boolean {
  const words = ['src', 'alt', 'title', 'onclick'].map((name) => (image.getAttribute(name) ?? '').slice(0, 200));
  const said = `${words.filter((word) => !word.startsWith('data:')).join(' ')} ${idOf(image)} ${classNames(image)}`;
  return CAPTCHA_IMAGE.test(said) && !QR_CODE.test(said);
}

/** True if another element covers the center of an element in the viewport. */
function isCovered(element: Element): boolean {
  const rect = element.getBoundingClientRect();
  const root = element.getRootNode();
  if (!(root instanceof Document || root instanceof ShadowRoot)) return false;
  const [x, y] = [rect.left + rect.width / 2, rect.top + rect.height / 2];
  if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
  const hit = root.elementFromPoint(x, y);
  if (hit === null || hit === element || element.contains(hit) || hit.contains(element)) return false;
  // Many fields are covered by a label or an image of their own.
  return (
    closest(hit, (each) => each.contains(element) && each.childElementCount < 12 && !each.contains(document.body)) ===
    null
  );
}

const CONSENT = /cookie|consent|gdpr|onetrust|usercentrics|cc-window|didomi/i;
const POPUP =
  /(^|[-_\s])(modal|pop-?up|popover|drop-?down|off-?canvas|drawer|fly-?out|lightbox|mfp|fancybox|quick-?log-?in|mini-?(log-?in|cart|account)|collapse|megamenu|submenu)/i;
const HEADER = /(^|[-_\s])(header|top-?bar|nav-?bar|top-?nav|masthead|site-?head|(main|user|account)-?menu)([-_\s]|$)/i;
const FOOTER = /(^|[-_\s])(footer|site-?foot)([-_\s]|$)/i;
/** An element with a larger share of the page is a container for all of it, whatever its name. */
const MAX_PART_SHARE = 0.6;

const regions = new WeakMap<Element, Region>();

/** The part of the page that contains an element, by tags and roles, else by names. */
export function regionOf(element: Element): Region {
  const known = regions.get(element);
  if (known !== undefined) return known;
  const region = findRegion(element);
  regions.set(element, region);
  return region;
}

function findRegion(element: Element): Region {
  if (element === document.body || element.tagName === 'HTML') return 'main';
  const parent = composedParent(element);
  const above = parent === null ? 'main' : regionOf(parent);
  if (above === 'consent' || above === 'footer' || above === 'popup') return above;
  const words = `${idOf(element)} ${classNames(element)}`;
  if (CONSENT.test(words) && isPartOfPage(element)) return 'consent';
  const role = element.getAttribute('role');
  const isDialog = element.tagName === 'DIALOG' || role === 'dialog' || role === 'alertdialog';
  if (isDialog || element.getAttribute('aria-modal') === 'true') {
    return element.getAttribute('aria-hidden') === 'true' ? 'popup' : 'dialog';
  }
  if (element.tagName === 'MAIN' || role === 'main') return 'main';
  if (element.tagName === 'FOOTER' || role === 'contentinfo') return above === 'dialog' ? above : 'footer';
  if (element.tagName === 'NAV' || role === 'navigation') return 'nav';
  if (element.tagName === 'HEADER' || role === 'banner') {
    return element.closest('main, dialog, form, article, section') ? above : 'header';
  }
  if (element.tagName === 'ASIDE') return 'aside';
  if (POPUP.test(words) && isPartOfPage(element)) return 'popup';
  if (above !== 'main' || element.closest('main')) return above;
  if (HEADER.test(words) && isPartOfPage(element)) return 'header';
  if (FOOTER.test(words) && isPartOfPage(element)) return 'footer';
  return above;
}

/** True for an element that can be a page region: not a form or a field, and not most of the page. */
function isPartOfPage(element: Element): boolean {
  if (/^(FORM|INPUT|BUTTON|A|LABEL|SPAN|H[1-6]|P)$/.test(element.tagName)) return false;
  const all = document.body.getElementsByTagName('*').length;
  return element.getElementsByTagName('*').length < all * MAX_PART_SHARE;
}

/** Meaningful custom attributes and their values. */
export function extraOf(element: Element): string {
  const parts: string[] = [];
  for (const { name, value } of element.attributes) {
    if (/^data-|^ng-|^formcontrolname$|^v-model|^:|^jsname$/.test(name) && value.length < 100)
      parts.push(`${name}=${value}`);
  }
  return parts.join(' ').slice(0, 300);
}

function tagOf(element: Element): ControlFacts['tag'] {
  if (isCustomSelect(element)) return 'select';
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
