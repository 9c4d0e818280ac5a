/** The elements of the composed tree, collected in one pass. */
export interface Tree {
  /** Every element in visual order, including those in open shadow roots. */
  readonly elements: readonly Element[];
  readonly order: ReadonlyMap<Element, number>;
}

const MAX_ELEMENTS = 30_000;
const NOT_CONTENT = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD', 'META', 'LINK', 'OPTION']);

/** Walks the document and its open shadow roots, up to MAX_ELEMENTS. */
export function walk(root: Document): Tree {
  const elements: Element[] = [];
  const order = new Map<Element, number>();

  const visit = (element: Element): void => {
    if (elements.length >= MAX_ELEMENTS || NOT_CONTENT.has(element.tagName)) return;
    order.set(element, elements.length);
    elements.push(element);
    if (element.shadowRoot) for (const child of childElements(element.shadowRoot)) visit(child);
    if (element.tagName.toLowerCase() === 'svg') return;
    for (const child of childElements(element)) visit(child);
  };
  const body = root.querySelector('body, frameset');
  if (body) visit(body);
  return { elements, order };
}

/**
 * The child nodes of a node. Uses a tree walker, because a component may override `children` and `childNodes` to show only the
 * content passed to it and nothing that it renders.
 */
export function childNodesOf(parent: Node, what: number = NodeFilter.SHOW_ALL): Node[] {
  const walker = document.createTreeWalker(parent, what);
  const nodes: Node[] = [];
  for (let node = walker.firstChild(); node; node = walker.nextSibling()) nodes.push(node);
  return nodes;
}

/** The child elements of a node, even if a component overrides `children`. */
export function childElements(parent: Node): Element[] {
  return childNodesOf(parent, NodeFilter.SHOW_ELEMENT).filter((node) => node instanceof Element);
}

/** The parent of an element in the composed tree. */
export function composedParent(element: Element): Element | null {
  if (element.assignedSlot) return element.assignedSlot;
  if (element.parentElement) return element.parentElement;
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
}

/** The nearest ancestor in the composed tree, or the element itself, that meets a condition. */
export function closest(element: Element, condition: (each: Element) => boolean): Element | null {
  for (let at: Element | null = element; at; at = composedParent(at)) if (condition(at)) return at;
  return null;
}

/** True if an element or one of its descendants, including those in shadow roots, matches a selector. */
export function matchesWithin(element: Element, selector: string): boolean {
  if (element.matches(selector) || element.querySelector(selector) !== null) return true;
  if (element.shadowRoot !== null && childElements(element.shadowRoot).some((each) => matchesWithin(each, selector)))
    return true;
  for (const each of element.getElementsByTagName('*')) {
    if (each.shadowRoot !== null && childElements(each.shadowRoot).some((inner) => matchesWithin(inner, selector)))
      return true;
  }
  return false;
}

/** The child nodes of a node as rendered: a component's shadow tree, and the assigned nodes of a slot. */
export function renderedChildren(node: Node): Node[] {
  const given = node instanceof HTMLSlotElement ? node.assignedNodes() : [];
  if (given.length > 0) return given;
  return childNodesOf(node instanceof Element ? (node.shadowRoot ?? node) : node);
}

/** Collapses whitespace and truncates. */
export function oneLine(text: string | null | undefined, max = 300): string {
  return (text ?? '')
    .replace(/[\s\u200b\u200e\u200f\ufeff]+/g, ' ')
    .trim()
    .slice(0, max);
}

/** The id attribute. A form's `id` property may be shadowed by a field named `id`. */
export function idOf(element: Element): string {
  return element.getAttribute('id') ?? '';
}

/** The class attribute (in SVG, `className` is not a string). */
export function classNames(element: Element): string {
  return (element.getAttribute('class') ?? '').slice(0, 300);
}
