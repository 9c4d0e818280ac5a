import type { TextFacts } from '../read/facts.ts';
import { regionOf } from './controls.ts';
import type { Sight } from './visible.ts';
import { boxOf } from './visible.ts';
import { classNames, closest, composedParent, oneLine, type Tree } from './walk.ts';

const MAX_BLOCKS = 600;
const MARK_LEVELS = 4;

/** The visible texts of the page, block by block, with the marks that say what kind of text each is. */
export function collectTexts(
  tree: Tree,
  look: (element: Element) => Sight,
  groupOf: (element: Element) => number,
): TextFacts[] {
  const blocks = new Map<Element, string[]>();
  for (const element of tree.elements) {
    if (element.tagName === 'SELECT' || element.tagName === 'TEXTAREA' || element.tagName === 'SVG') continue;
    const roots: ParentNode[] = element.shadowRoot ? [element.shadowRoot, element] : [element];
    for (const root of roots) addOwnWords(root, element, blocks, look);
    if (blocks.size >= MAX_BLOCKS) break;
  }
  const described = references(tree, 'aria-describedby', 'aria-errormessage');
  return Array.from(blocks, ([element, words]) => facts(element, words, tree, groupOf, described));
}

function addOwnWords(
  root: ParentNode,
  element: Element,
  blocks: Map<Element, string[]>,
  look: (element: Element) => Sight,
): void {
  for (const node of root.childNodes) {
    if (node.nodeType !== Node.TEXT_NODE) continue;
    const words = oneLine(node.textContent, 500);
    if (!words) continue;
    const sight = look(element);
    if (!sight.visible || sight.transparent) return;
    const block = blockOf(element);
    blocks.set(block, [...(blocks.get(block) ?? []), words]);
  }
}

/** The nearest element that is not a mere run of text. */
function blockOf(element: Element): Element {
  return (
    closest(
      element,
      (each) => each.tagName === 'A' || !['inline', 'contents'].includes(getComputedStyle(each).display),
    ) ?? element
  );
}

function facts(
  element: Element,
  words: readonly string[],
  tree: Tree,
  groupOf: (element: Element) => number,
  described: { all: ReadonlySet<Element>; invalid: ReadonlySet<Element> },
): TextFacts {
  const isReferred = (set: ReadonlySet<Element>): boolean => {
    let at: Element | null = element;
    for (let level = 0; at && level < MARK_LEVELS; level += 1, at = composedParent(at)) if (set.has(at)) return true;
    return false;
  };
  return {
    order: tree.order.get(element) ?? 0,
    box: boxOf(element),
    group: groupOf(element),
    region: regionOf(element),
    text: oneLine(words.join(' '), 500),
    tag: element.tagName.toLowerCase(),
    heading:
      closest(element, (each) => /^H[1-4]$/.test(each.tagName) || each.getAttribute('role') === 'heading') !== null,
    within: withinOf(element),
    marks: marksOf(element),
    red: isRed(getComputedStyle(element).color),
    describesInvalid: isReferred(described.invalid),
    describes: isReferred(described.all),
  };
}

function withinOf(element: Element): TextFacts['within'] {
  if (closest(element, (each) => each.tagName === 'A' || each.getAttribute('role') === 'link')) return 'link';
  if (closest(element, (each) => each.tagName === 'BUTTON' || each.getAttribute('role') === 'button')) return 'button';
  return closest(element, (each) => each.tagName === 'LABEL') ? 'label' : 'none';
}

/** Role, liveness, id and classes of the element and of the small ones around it; those of whole pages say nothing. */
function marksOf(element: Element): string {
  const marks: string[] = [];
  let at: Element | null = element;
  for (let level = 0; at && level < MARK_LEVELS; level += 1, at = composedParent(at)) {
    if (at === document.body || at.tagName === 'FORM' || at.tagName === 'MAIN') break;
    if (level > 0 && at.textContent.length > 600) break;
    const live = at.getAttribute('aria-live');
    const role = at.getAttribute('role');
    marks.push(
      `${role ? `role=${role}` : ''} ${live ? `live=${live}` : ''} ${at.tagName.toLowerCase()} ${at.id} ${classNames(at)}`,
    );
  }
  return marks.join(' | ').slice(0, 600);
}

function references(tree: Tree, ...attributes: string[]): { all: Set<Element>; invalid: Set<Element> } {
  const all = new Set<Element>();
  const invalid = new Set<Element>();
  for (const control of tree.elements) {
    for (const attribute of attributes) {
      const ids = control.getAttribute(attribute);
      if (!ids) continue;
      const root = control.getRootNode();
      if (!(root instanceof Document || root instanceof ShadowRoot)) continue;
      for (const id of ids.split(/\s+/)) {
        const target = id ? root.getElementById(id) : null;
        if (!target) continue;
        all.add(target);
        if (control.getAttribute('aria-invalid') === 'true') invalid.add(target);
      }
    }
  }
  return { all, invalid };
}

/** Red enough to be meant as a warning: much more red than green and blue. */
function isRed(color: string): boolean {
  const [red = 0, green = 0, blue = 0, alpha = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
  return color.startsWith('rgb') && alpha > 0.3 && red >= 120 && red > green * 1.8 && red > blue * 1.6;
}
