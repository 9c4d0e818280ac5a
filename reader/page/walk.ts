/** One pass over the composed tree: what later steps ask for again and again. */
export interface Tree {
  /** Every element, open shadow roots included, in the order a visitor meets them. */
  readonly elements: readonly Element[];
  readonly order: ReadonlyMap<Element, number>;
}

const MAX_ELEMENTS = 30_000;
const NOT_CONTENT = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'META', 'LINK', 'OPTION']);

/** Walks the document and its open shadow roots. Huge pages are cut after 30,000 elements. */
export function walk(root: Document): Tree {
  const elements: Element[] = [];
  const order = new Map<Element, number>();

  const visit = (element: Element): void => {
    if (elements.length >= MAX_ELEMENTS || NOT_CONTENT.has(element.tagName)) return;
    order.set(element, elements.length);
    elements.push(element);
    if (element.shadowRoot) for (const child of elementsIn(element.shadowRoot)) visit(child);
    if (element.tagName.toLowerCase() === 'svg') return;
    for (const child of elementsIn(element)) visit(child);
  };
  const body = root.querySelector('body, frameset');
  if (body) visit(body);
  return { elements, order };
}

/**
 * What stands right inside a node, in its order. A walker tells: a component may put its own in the place of `children` and
 * `childNodes`, which show the content that it was given and nothing that it has drawn.
 */
export function nodesIn(parent: Node, what: number = NodeFilter.SHOW_ALL): Node[] {
  const walker = document.createTreeWalker(parent, what);
  const nodes: Node[] = [];
  for (let node = walker.firstChild(); node; node = walker.nextSibling()) nodes.push(node);
  return nodes;
}

/** The elements right inside a node, whatever a component says of its children. */
export function elementsIn(parent: Node): Element[] {
  return nodesIn(parent, NodeFilter.SHOW_ELEMENT).filter((node) => node instanceof Element);
}

/** The parent of an element, out of its shadow root when it stands at the top of one. */
export function composedParent(element: Element): Element | null {
  if (element.assignedSlot) return element.assignedSlot;
  if (element.parentElement) return element.parentElement;
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
}

/** The nearest element, itself included, that fulfils a condition; shadow roots are left on the way up. */
export function closest(element: Element, condition: (each: Element) => boolean): Element | null {
  for (let at: Element | null = element; at; at = composedParent(at)) if (condition(at)) return at;
  return null;
}

/**
 * True when an element, or one inside of it, matches a selector; what components draw counts as well. A page of plain elements is
 * asked by the browser alone.
 */
export function holds(element: Element, selector: string): boolean {
  if (element.matches(selector) || element.querySelector(selector) !== null) return true;
  if (element.shadowRoot !== null && elementsIn(element.shadowRoot).some((each) => holds(each, selector))) return true;
  for (const each of element.getElementsByTagName('*')) {
    if (each.shadowRoot !== null && elementsIn(each.shadowRoot).some((inner) => holds(inner, selector))) return true;
  }
  return false;
}

/** What stands in a node as it is drawn: a component's own tree, and in a slot of it what it was given. */
export function drawnIn(node: Node): Node[] {
  const given = node instanceof HTMLSlotElement ? node.assignedNodes() : [];
  if (given.length > 0) return given;
  return nodesIn(node instanceof Element ? (node.shadowRoot ?? node) : node);
}

/** Text of a node: one line, spaces collapsed, cut. */
export function oneLine(text: string | null | undefined, max = 300): string {
  return (text ?? '')
    .replace(/[\s\u200b\u200e\u200f\ufeff]+/g, ' ')
    .trim()
    .slice(0, max);
}

/** The id attribute. The property of a form is taken by a field of it that is called `id`: many search forms have one. */
export function idOf(element: Element): string {
  return element.getAttribute('id') ?? '';
}

/** The class attribute as a string; in SVG it is not one. */
export function classNames(element: Element): string {
  return (element.getAttribute('class') ?? '').slice(0, 300);
}
