import { composedParent, drawnIn, holds, oneLine } from './walk.ts';

const MAX_OPTIONS = 50;

/**
 * True for a list to choose from that a script draws: a combobox that nothing can be typed into, or a button that opens a list, where
 * the entries are known before it is opened.
 */
export function isDrawnList(element: Element): boolean {
  if (!element.matches('[role=combobox], button[aria-haspopup=listbox], [role=button][aria-haspopup=listbox]'))
    return false;
  if (element instanceof HTMLSelectElement) return false;
  if (element instanceof HTMLInputElement && !element.readOnly) return false;
  return drawnOptions(element).length > 1;
}

/** What a drawn list offers to choose, as it says it. */
export function drawnOptions(combobox: Element): string[] {
  return optionsOf(combobox)
    .filter((option) => option.getAttribute('aria-disabled') !== 'true' && !option.hasAttribute('disabled'))
    .map(wordsOf)
    .filter((words, at, all) => words !== '' && all.indexOf(words) === at)
    .slice(0, MAX_OPTIONS);
}

/** True for a drawn list that stands on one of its entries, and not on one that only says that something is to be chosen. */
export function standsOnOption(combobox: Element): boolean {
  const root = combobox.getRootNode();
  if (root instanceof ShadowRoot && 'value' in root.host && root.host.value === '') return false;
  const shown = combobox instanceof HTMLInputElement ? oneLine(combobox.value) : wordsOf(combobox);
  return optionsOf(combobox).some((option) => wordsOf(option) === shown);
}

/** The entries of the list that a combobox names, else of the nearest component around it that has any, and no other field. */
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
    if (holds(around, 'input[type=password], input[type=email]')) return [];
    const options = optionsIn(around);
    if (options.length > 0) return options;
  }
  return [];
}

function optionsIn(list: Element): Element[] {
  const found: Element[] = [];
  const visit = (node: Node): void => {
    if (node instanceof Element && node.getAttribute('role') === 'option') found.push(node);
    else for (const each of drawnIn(node)) visit(each);
  };
  visit(list);
  return found;
}

/** The words of an entry, or of what shows the chosen one, without those that are not shown to anybody. */
function wordsOf(element: Element): string {
  const words: string[] = [];
  const visit = (node: Node): void => {
    if (node.nodeType === Node.TEXT_NODE) words.push(oneLine(node.textContent));
    if (node instanceof Element && node.matches('style, script, svg, [aria-hidden=true]')) return;
    for (const each of drawnIn(node)) visit(each);
  };
  visit(element);
  return oneLine(words.filter(Boolean).join(' '), 100);
}
