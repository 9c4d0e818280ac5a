import type { CheckboxFacts, FormFacts } from '../facts.ts';
import { regionOf } from './controls.ts';
import { labelText, nearText, textOf } from './labels.ts';
import type { Visibility } from './visibility.ts';
import { classNames, closest, idOf, oneLine, type Tree } from './composed-tree.ts';

/**
 * Determines the form of an element: its form owner, else its nearest form in the composed tree. An element with the role `form`
 * counts only if it contains a button; otherwise it just lays out fields, and their button is outside.
 */
export function createForms({ elements }: Tree) {
  const found: Element[] = [];
  const known = new Map<Element, number>();
  const sending = new Set(
    elements
      .filter((each) =>
        each.matches('button, [role=button], input[type=submit], input[type=button], input[type=image]'),
      )
      .map((button) => closest(button, hasFormRole)),
  );

  function indexOf(element: Element): number {
    const own = 'form' in element && element.form instanceof HTMLFormElement ? element.form : null;
    const form = own ?? closest(element, (each) => each.tagName === 'FORM' || (hasFormRole(each) && sending.has(each)));
    if (form === null) return -1;
    const at = known.get(form);
    if (at !== undefined) return at;
    known.set(form, found.length);
    return found.push(form) - 1;
  }

  function facts(): FormFacts[] {
    return found.map((form) => ({
      id: idOf(form),
      name: form.getAttribute('name') ?? '',
      classes: classNames(form),
      action: (form.getAttribute('action') ?? '').slice(0, 300),
      label: oneLine(form.getAttribute('aria-label') ?? ''),
    }));
  }

  return { indexOf, facts };
}

function hasFormRole(element: Element): boolean {
  return element.tagName !== 'FORM' && element.getAttribute('role') === 'form';
}

const MAX_CHECKBOXES = 60;

/** The facts of checkboxes: `Remember me` belongs to a login, terms to a sign-up. */
export function checkboxFacts(
  tree: Tree,
  visibilityOf: (element: Element) => Visibility,
  formOf: (element: Element) => number,
  css: (element: Element) => string,
): CheckboxFacts[] {
  return tree.elements
    .filter(
      (each) =>
        (each instanceof HTMLInputElement && each.type === 'checkbox') || each.getAttribute('role') === 'checkbox',
    )
    .slice(0, MAX_CHECKBOXES)
    .map((element) => ({
      order: tree.order.get(element) ?? 0,
      form: formOf(element),
      region: regionOf(element),
      text: labelText(element) || textOf(element.nextElementSibling).slice(0, 200) || nearText(element),
      said: fullLabel(element),
      named: `${element.getAttribute('name') ?? ''} ${idOf(element)}`,
      // A styled checkbox is hidden behind an image, but its parent is visible.
      visible:
        visibilityOf(element).visible ||
        (element.parentElement !== null && visibilityOf(element.parentElement).visible),
      disabled: element.matches(':disabled') || element.getAttribute('aria-disabled') === 'true',
      checked: element instanceof HTMLInputElement ? element.checked : element.getAttribute('aria-checked') === 'true',
      required:
        (element instanceof HTMLInputElement && element.required) || element.getAttribute('aria-required') === 'true',
      selector: css(element),
    }));
}

function fullLabel(box: Element): string {
  const [label] = box instanceof HTMLInputElement ? (box.labels ?? []) : [];
  const words = textOf(label ?? (box.getAttribute('role') === 'checkbox' ? box : null));
  return (words || textOf(box.nextElementSibling)).slice(0, 300);
}
