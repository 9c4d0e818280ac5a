import { idOf, type Tree } from './composed-tree.ts';

const ATTRIBUTES: readonly string[] = [
  'data-testid',
  'data-test',
  'data-test-id',
  'data-qa',
  'data-cy',
  'formcontrolname',
  'ng-model',
  'data-provider',
  'data-identifier',
  'autocomplete',
  'aria-label',
  'placeholder',
  'title',
  'href',
  'type',
  'value',
];

/** Builds selectors that match exactly one element of the frame and survive small changes of the page. */
export function createSelectors(tree: Tree): {
  css: (element: Element) => string;
  xpath: (element: Element) => string;
} {
  const counts = new Map<string, number>();
  for (const element of tree.elements) for (const key of keysOf(element)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const built = new Map<Element, string>();

  const unique = (key: string | undefined): key is string => key !== undefined && counts.get(key) === 1;

  function css(element: Element): string {
    const known = built.get(element);
    if (known) return known;
    const selector = direct(element) ?? withinForm(element) ?? path(element);
    built.set(element, selector);
    return selector;
  }

  function direct(element: Element): string | undefined {
    const id = idKey(element);
    if (unique(id) && !isGenerated(idOf(element))) return id;
    const name = nameKey(element);
    if (unique(name) && !isGenerated(element.getAttribute('name') ?? '')) return name;
    const typed = typedNameKey(element);
    if (unique(typed)) return typed;
    const attribute = attributeKeys(element).find(unique);
    if (attribute) return attribute;
    return unique(id) ? id : undefined;
  }

  /** `#login [name="user"]`: a name that is unique within its form. */
  function withinForm(element: Element): string | undefined {
    const form = element.closest('form');
    const name = typedNameKey(element) ?? nameKey(element);
    if (!form || form === element || !name) return undefined;
    const formKey = direct(form);
    return formKey && form.querySelectorAll(name).length === 1 ? `${formKey} ${name}` : undefined;
  }

  /** A path from the nearest ancestor with a unique selector. */
  function path(element: Element): string {
    const tag = tagOf(element);
    const root = element.getRootNode();
    const anchor = element.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
    const { place, alone } = placeOf(element);
    const step = alone ? tag : `${tag}:nth-of-type(${place})`;
    if (!anchor || tag === 'body' || tag === 'html') return step;
    return `${direct(anchor) ?? path(anchor)} > ${step}`;
  }

  return { css, xpath: xpathOf };
}

/** Skips elements without attributes: pages have tens of thousands of elements. */
function keysOf(element: Element): string[] {
  if (!element.hasAttributes()) return [];
  return [idKey(element), nameKey(element), typedNameKey(element), ...attributeKeys(element)].filter(
    (key) => key !== undefined,
  );
}

function tagOf(element: Element): string {
  return CSS.escape(element.tagName.toLowerCase());
}

function idKey(element: Element): string | undefined {
  const id = idOf(element);
  return id ? `#${CSS.escape(id)}` : undefined;
}

function nameKey(element: Element): string | undefined {
  const name = element.getAttribute('name');
  return name ? `${tagOf(element)}[name=${quote(name)}]` : undefined;
}

function typedNameKey(element: Element): string | undefined {
  const name = element.getAttribute('name');
  const type = element.getAttribute('type');
  return name && type ? `${tagOf(element)}[name=${quote(name)}][type=${quote(type)}]` : undefined;
}

function attributeKeys(element: Element): string[] {
  const keys: string[] = [];
  const present = element.getAttributeNames();
  for (const attribute of ATTRIBUTES) {
    if (!present.includes(attribute)) continue;
    // The value attribute of a text field may have been typed; that of a button is its label.
    if (attribute === 'value' && !isButtonInput(element)) continue;
    const value = element.getAttribute(attribute);
    if (value && value.length <= 120 && !isGenerated(value))
      keys.push(`${tagOf(element)}[${attribute}=${quote(value)}]`);
  }
  return keys;
}

function isButtonInput(element: Element): boolean {
  return element instanceof HTMLInputElement && ['submit', 'button', 'image', 'radio'].includes(element.type);
}

function quote(value: string): string {
  return `"${value.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\a ')}"`;
}

/** True for ids generated at every load: counters of component libraries, hashes, UUIDs. */
function isGenerated(id: string): boolean {
  return (
    /^[:«]r?[0-9a-z]+[:»]/i.test(id) ||
    /^(ember|ext-?gen|yui|mui|radix|headlessui|react-aria|react-select|chakra|mantine|downshift|rc_|el-id|v-)\S*\d/i.test(
      id,
    ) ||
    /^(input|field|id|label|control|component|mat-input|j_idt|gen)[-_:]?\d{2,}$/i.test(id) ||
    /[0-9a-f]{8}-[0-9a-f]{4}-/i.test(id) ||
    /(?=[a-z]*\d)(?=\d*[a-z])[0-9a-f]{10,}/i.test(id) ||
    /\d{5,}/.test(id) ||
    // Random letters: no language has so many consonants in a row.
    /[-_][a-z]*[b-df-hj-np-tv-z]{5,}[a-z]*$/.test(id)
  );
}

/** XPath of an element: by id if it has one, else from the root of its tree. */
function xpathOf(element: Element): string {
  const known = xpaths.get(element);
  if (known !== undefined) return known;
  const id = idOf(element);
  const parent = element.parentElement;
  const tag = element.tagName.toLowerCase();
  const { place, alone } = placeOf(element);
  const step = alone ? tag : `${tag}[${place}]`;
  const byId = id !== '' && !id.includes('"');
  const xpath = byId ? `//*[@id="${id}"]` : parent === null ? `/${tag}` : `${xpathOf(parent)}/${step}`;
  xpaths.set(element, xpath);
  return xpath;
}

const xpaths = new WeakMap<Element, string>();

/** The position of an element among siblings of its tag, from 1. */
interface Place {
  readonly place: number;
  readonly alone: boolean;
}

const places = new WeakMap<ParentNode, ReadonlyMap<Element, Place>>();

/** Counts the children of a parent only once, since lists may have thousands. */
function placeOf(element: Element): Place {
  const parent = element.parentNode;
  if (!(parent instanceof Element || parent instanceof ShadowRoot)) return { place: 1, alone: true };
  const known = places.get(parent) ?? countChildren(parent);
  places.set(parent, known);
  return known.get(element) ?? { place: 1, alone: true };
}

function countChildren(parent: ParentNode): ReadonlyMap<Element, Place> {
  const counts = new Map<string, number>();
  for (const { tagName } of parent.children) counts.set(tagName, (counts.get(tagName) ?? 0) + 1);
  const seen = new Map<string, number>();
  const found = new Map<Element, Place>();
  for (const child of parent.children) {
    const place = (seen.get(child.tagName) ?? 0) + 1;
    seen.set(child.tagName, place);
    found.set(child, { place, alone: counts.get(child.tagName) === 1 });
  }
  return found;
}
