import { composedParent, renderedChildren, matchesWithin, oneLine } from './composed-tree.ts';

const MAX_OPTIONS = 50;

/** True for a select built by a script: a combobox without text input, or a button that opens a listbox whose options already exist. */
export function isCustomSelect(element: Element): boolean {
  if (!element.matches('[role=combobox], button[aria-haspopup=listbox], [role=button][aria-haspopup=listbox]'))
    return false;
  if (element instanceof HTMLSelectElement) return false;
  if (element instanceof HTMLInputElement && !element.readOnly) return false;
  return customOptions(element).length > 1;
}

/** The option labels of a custom select. */
export function customOptions(combobox: Element): string[] {
  return optionsOf(combobox)
    .filter((option) => option.getAttribute('aria-disabled') !== 'true' && !option.hasAttribute('disabled'))
    .map(visibleText)
    .filter((words, at, all) => words !== '' && all.indexOf(words) === at)
    .slice(0, MAX_OPTIONS);
}

/** True if an option of a custom select is selected, rather than a placeholder shown. */
export function hasSelectedOption(combobox: Element): boolean {
  const root = combobox.getRootNode();
  if (root instanceof ShadowRoot && 'value' in root.host && root.host.value === '') return false;
  const shown = combobox instanceof HTMLInputElement ? oneLine(combobox.value) : visibleText(combobox);
  return optionsOf(combobox).some((option) => visibleText(option) === shown);
}

/** The options of the list that a combobox refers to, else of the nearest component around it that has options and no credentials field. */
function optionsOf(combobox: Element): Element[] {
  const ids = `${combobox.getAttribute('aria-controls') ?? ''} ${combobox.getAttribute('aria-owns') ?? ''}`;
  const root = combobox.getRootNode();
  if (!(root instanceof Document || root instanceof ShadowRoot)) return [];
  for (const id of ids.split(/\s+/)) {
    const list = id === '' ? null : root.getElementById(id);
    const options = list === null ? [] : optionsIn(list);
    if (options.length > 0) return options;
  }
  for (let around = composedParent(combobox); around !== null; around = composedParent(around)) {
    if (!around.localName.includes('-')) continue;
    if (matchesWithin(around, 'input[type=password], input[type=email]')) return [];
    const options = optionsIn(around);
    if (options.length > 0) return options;
  }
  return [];
}

function optionsIn(list: Element): Element[] {
  const found: Element[] = [];
  const visit = (node: Node): void => {
    if (node instanceof Element && node.getAttribute('role') === 'option') found.push(node);
    else for (const each of renderedChildren(node)) visit(each);
  };
  visit(list);
  return found;
}

/** The visible text of an option or of the current selection. */
function visibleText(element: Element): string {
  const words: string[] = [];
  const visit = (node: Node): void => {
    if (node.nodeType === Node.TEXT_NODE) words.push(oneLine(node.textContent));
    if (node instanceof Element && node.matches('style, script, svg, [aria-hidden=true]')) return;
    for (const each of renderedChildren(node)) visit(each);
  };
  visit(element);
  return oneLine(words.filter(Boolean).join(' '), 100);
}
