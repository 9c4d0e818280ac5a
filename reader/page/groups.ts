import type { GroupFacts } from '../facts.ts';
import { boxOf } from './visible.ts';
import { classNames, closest, composedParent, idOf, oneLine, type Tree } from './walk.ts';
import { textOf } from './labels.ts';

const BUTTON = 'button, input[type=submit], input[type=image], input[type=button], [role=button]';

/**
 * Tells which controls and buttons belong together: by their form, else by the smallest part of the page that holds the
 * control together with a button.
 */
export function createGroups(tree: Tree, css: (element: Element) => string) {
  const found: Element[] = [];
  const known = new Map<Element, number>();
  const holders = holdersOfButtons(tree);

  function indexOf(group: Element): number {
    const at = known.get(group);
    if (at !== undefined) return at;
    known.set(group, found.length);
    found.push(group);
    return found.length - 1;
  }

  /** Group of a control; makes one where there is no form. */
  function ofControl(control: Element): number {
    if ('form' in control && control.form instanceof HTMLFormElement) return indexOf(control.form);
    const form = closest(control, (each) => each.tagName === 'FORM' || each.getAttribute('role') === 'form');
    return indexOf(form ?? closest(control, (each) => each !== control && holders.has(each)) ?? document.body);
  }

  /** Group of anything else: the nearest one that a control has made. */
  function ofOther(element: Element): number {
    if ('form' in element && element.form instanceof HTMLFormElement && known.has(element.form)) {
      return indexOf(element.form);
    }
    const group = closest(element, (each) => known.has(each));
    return group ? indexOf(group) : -1;
  }

  function facts(): GroupFacts[] {
    return found.map((group) => ({
      tag: group.tagName.toLowerCase(),
      id: idOf(group),
      name: group.getAttribute('name') ?? '',
      classes: classNames(group),
      action: group.getAttribute('action') ?? '',
      method: (group.getAttribute('method') ?? '').toLowerCase(),
      role: group.getAttribute('role') ?? '',
      label: oneLine(group.getAttribute('aria-label') ?? ''),
      heading: headingOf(group, tree),
      box: boxOf(group),
      selector: css(group),
    }));
  }

  return { ofControl, ofOther, facts };
}

/** Everything that holds a button which may send a form, shadow roots looked through. */
function holdersOfButtons(tree: Tree): ReadonlySet<Element> {
  const holders = new Set<Element>();
  for (const element of tree.elements) {
    if (!element.matches(BUTTON) || isHelper(element)) continue;
    for (let at: Element | null = element; at && !holders.has(at); at = composedParent(at)) holders.add(at);
  }
  return holders;
}

/** The eye, the clear cross and the like stand beside a field and send nothing. */
function isHelper(button: Element): boolean {
  const says = `${button.getAttribute('aria-label') ?? ''} ${classNames(button)} ${button.textContent}`;
  return (
    oneLine(button.textContent).length < 2 ||
    /show|hide|toggle|reveal|eye|visib|clear|anzeigen|afficher|(get|send|resend) (the )?code|获取|发送|取得|发送|인증번호|送信する$/i.test(
      says,
    )
  );
}

function headingOf(group: Element, tree: Tree): string {
  const headings = 'h1, h2, h3, h4, legend, [role=heading]';
  const inside = [...group.querySelectorAll(headings)].find((each) => each.checkVisibility() && textOf(each));
  if (inside) return oneLine(textOf(inside), 150);
  const start = tree.order.get(group) ?? 0;
  for (let index = start - 1; index >= 0 && index > start - 60; index -= 1) {
    const element = tree.elements[index];
    if (element?.matches(headings) && element.checkVisibility()) return oneLine(textOf(element), 150);
  }
  return '';
}
