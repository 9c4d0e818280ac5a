/** Attributes by name; `true` sets an empty one; `false`, `null` and `undefined` set none. */
export type Attributes = Record<string, string | number | boolean | null | undefined>;
/** Children of an element: nodes, and texts (including the site's), which never become markup. */
export type Child = Node | string | null | undefined | false;

/** Creates an element. The only way this page does, so that no string is ever parsed as markup. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

/** Creates a decorative SVG element, hidden from assistive technology. */
export function svg(attributes: Attributes, ...paths: string[]): SVGSVGElement {
  const ns = 'http://www.w3.org/2000/svg';
  const element = document.createElementNS(ns, 'svg');
  setAttributes(element, { viewBox: '0 0 24 24', 'aria-hidden': 'true', focusable: 'false', ...attributes });
  for (const d of paths) {
    const path = document.createElementNS(ns, 'path');
    path.setAttribute('d', d);
    element.append(path);
  }
  return element;
}

/** Sets or removes attributes. */
export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

function append(element: Element, children: Child[]): void {
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
}

/** A sentence with one part emphasized: `{domain}` in `template` becomes a `<bdi class=…>` with `value`. */
export function emphasize(template: string, value: string, className = 'name'): Node[] {
  const parts = template.split('{domain}');
  return parts.flatMap((part, index) => {
    const text = document.createTextNode(part);
    // `bdi` isolates right-to-left names.
    return index === 0 ? [text] : [h('bdi', { class: className }, value), text];
  });
}
