import type { TextFacts } from '../facts.ts';
import { regionOf } from './controls.ts';
import type { Visibility } from './visibility.ts';
import { boxOf } from './visibility.ts';
import { classNames, closest, composedParent, idOf, childNodesOf, oneLine, type Tree } from './composed-tree.ts';

const MAX_BLOCKS = 600;
/** Text nodes to examine; on longer pages those nearest to a field or a heading come first. */
const MAX_PIECES = 1_500;
const MARK_LEVELS = 4;

/** The visible texts of the page, block by block. */
export function collectTexts(
  tree: Tree,
  visibilityOf: (element: Element) => Visibility,
  formOf: (element: Element) => number,
): TextFacts[] {
  const described = references(tree, 'aria-describedby', 'aria-errormessage');
  const blocks = new Map<Element, Part[]>();
  for (const { words, element } of nearest(piecesOf(tree), tree)) {
    if (blocks.size >= MAX_BLOCKS) break;
    const visibility = visibilityOf(element);
    if (!visibility.visible || visibility.transparent) continue;
    const block = closest(element, (each) => isBlock(each, described.all)) ?? element;
    const linked = closest(element, isLink) !== null;
    blocks.set(block, [...(blocks.get(block) ?? []), { words, linked }]);
  }
  return [...blocks].map(([element, parts]) => facts(element, parts, tree, formOf, described));
}

/** The words of a text node, and the element that lays them out: a component's own if it renders them in a slot. */
interface Piece {
  readonly words: string;
  readonly element: Element;
}

/** All words of the page in order, so that a sentence with bold words stays in one piece. */
function piecesOf(tree: Tree): Piece[] {
  const pieces: Piece[] = [];
  const visit = (element: Element): void => {
    if (!tree.order.has(element) || NO_TEXT.has(element.tagName)) return;
    for (const node of [...(element.shadowRoot ? childNodesOf(element.shadowRoot) : []), ...childNodesOf(element)]) {
      if (node instanceof Element) visit(node);
      else if (node.nodeType === Node.TEXT_NODE) {
        const words = oneLine(node.textContent, 500);
        if (words) pieces.push({ words, element: layoutParent(node, element) });
      }
    }
  };
  const [body] = tree.elements;
  if (body) visit(body);
  return pieces;
}

/**
 * The element around a text as rendered: for slotted text the element in the component that contains the slot, since an alert
 * component has its role inside, not on the host element.
 */
function layoutParent(node: Node, parent: Element): Element {
  let at: Element = node instanceof Text && node.assignedSlot !== null ? node.assignedSlot : parent;
  while (at instanceof HTMLSlotElement) at = composedParent(at) ?? parent;
  return at;
}

function nearest(pieces: readonly Piece[], tree: Tree): readonly Piece[] {
  if (pieces.length <= MAX_PIECES) return pieces;
  const orderOf = (element: Element): number => tree.order.get(element) ?? 0;
  const anchors = tree.elements
    .filter((each) => each.matches('input:not([type=hidden]), select, textarea, h1, h2, [role=alert], [aria-live]'))
    .map(orderOf);
  const distance = ({ element }: Piece): number =>
    anchors.reduce((least, anchor) => Math.min(least, Math.abs(anchor - orderOf(element))), orderOf(element));
  const rated = pieces.map((piece, at) => ({ piece, at, far: distance(piece) }));
  const kept = rated.sort((a, b) => a.far - b.far).slice(0, MAX_PIECES);
  return kept.sort((a, b) => a.at - b.at).map(({ piece }) => piece);
}

interface Part {
  readonly words: string;
  readonly linked: boolean;
}

const NO_TEXT = new Set(['SELECT', 'TEXTAREA', 'svg']);
const MARKED = /error|invalid|danger|alert|warn|feedback|helper|hint|message|fail/i;

/** True for an element with a text of its own: a block, a label, or inline text marked up as a message. */
function isBlock(element: Element, described: ReadonlySet<Element>): boolean {
  if (element.tagName === 'LABEL' || element.tagName === 'BUTTON' || described.has(element)) return true;
  if (!['inline', 'contents'].includes(getComputedStyle(element).display)) return true;
  if (element.hasAttribute('role') || element.hasAttribute('aria-live')) return true;
  return MARKED.test(`${idOf(element)} ${classNames(element)}`);
}

function isLink(element: Element): boolean {
  return element.tagName === 'A' || element.getAttribute('role') === 'link';
}

function facts(
  element: Element,
  parts: readonly Part[],
  tree: Tree,
  formOf: (element: Element) => number,
  described: { all: ReadonlySet<Element>; invalid: ReadonlySet<Element> },
): TextFacts {
  const isReferenced = (set: ReadonlySet<Element>): boolean => {
    let at: Element | null = element;
    for (let level = 0; at && level < MARK_LEVELS; level += 1, at = composedParent(at)) if (set.has(at)) return true;
    return false;
  };
  return {
    order: tree.order.get(element) ?? 0,
    box: boxOf(element),
    form: formOf(element),
    region: regionOf(element),
    text: join(parts),
    plain: join(parts.filter((part) => !part.linked)),
    tag: element.tagName.toLowerCase(),
    heading:
      closest(element, (each) => /^(H[1-6]|LEGEND)$/.test(each.tagName) || each.getAttribute('role') === 'heading') !==
      null,
    within: parts.every((part) => part.linked) ? 'link' : withinOf(element),
    marks: marksOf(element),
    red: isRed(getComputedStyle(element).color),
    describesInvalid: isReferenced(described.invalid),
    describes: isReferenced(described.all),
  };
}

/** The words of a block in one line, without spaces before punctuation that follows a link or bold words. */
function join(parts: readonly Part[]): string {
  return oneLine(parts.map((part) => part.words).join(' '), 500).replace(/ ([.,;:!?])(?=\s|$)/g, '$1');
}

function withinOf(element: Element): TextFacts['within'] {
  if (closest(element, (each) => each.tagName === 'BUTTON' || each.getAttribute('role') === 'button')) return 'button';
  return closest(element, (each) => each.tagName === 'LABEL') ? 'label' : 'none';
}

/** Role, aria-live, id and classes of the element and its small ancestors; those of page containers mean nothing. */
function marksOf(element: Element): string {
  const marks: string[] = [];
  let at: Element | null = element;
  for (let level = 0; at && level < MARK_LEVELS; level += 1, at = composedParent(at)) {
    if (at === document.body || at.tagName === 'FORM' || at.tagName === 'MAIN') break;
    if (level > 0 && isLong(at)) break;
    const live = at.getAttribute('aria-live');
    const role = at.getAttribute('role');
    marks.push(
      `${role ? `role=${role}` : ''} ${live ? `live=${live}` : ''} ${at.tagName.toLowerCase()} ${idOf(at)} ${classNames(at)} ${componentVariant(at)}`,
    );
  }
  return marks.join(' | ').slice(0, 600);
}

/** Attributes of a web component that serve the purpose of a class, such as `variant`. */
function componentVariant(element: Element): string {
  if (!element.localName.includes('-')) return '';
  const variants = ['variant', 'kind', 'color', 'severity'].map((name) => element.getAttribute(name) ?? '');
  return oneLine(variants.join(' '), 60);
}

const longElements = new WeakMap<Element, boolean>();

function isLong(element: Element): boolean {
  const known = longElements.get(element);
  if (known !== undefined) return known;
  const long = element.textContent.length > 600;
  longElements.set(element, long);
  return long;
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

/** True for a color with much more red than green and blue, which is meant as a warning. */
function isRed(color: string): boolean {
  const [red = 0, green = 0, blue = 0, alpha = 1] = (color.match(/[\d.]+/g) ?? []).map(Number);
  return color.startsWith('rgb') && alpha > 0.3 && red >= 120 && red > green * 1.8 && red > blue * 1.6;
}
