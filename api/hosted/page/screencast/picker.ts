import type { FocusedControl } from '../../../../contract/screencast.ts';
import { h } from '../dom.ts';
import { fill, words } from '../words.ts';
import type { Send } from './sender.ts';

type Picked = Extract<FocusedControl, { kind: 'list' | 'picker' }>;

/** Replacement control for lists and dates of the site's page, whose native pickers are not part of the screencast. */
export interface Picker {
  element: HTMLElement;
  show(focus: FocusedControl): void;
}

export function createPicker(send: Send): Picker {
  const element = h('div', { class: 'picture-picker', hidden: true });
  let shown = '';
  let control: HTMLSelectElement | HTMLInputElement | null = null;
  return {
    element,
    show(focus) {
      const isPicked = focus.kind === 'list' || focus.kind === 'picker';
      element.hidden = !isPicked;
      if (!isPicked) {
        shown = '';
        return;
      }
      const value = focus.kind === 'list' ? String(focus.chosen) : focus.value;
      const same = JSON.stringify({ ...focus, chosen: 0, value: '' });
      // The person may be choosing: replace it only for a different control.
      if (shown !== same || control === null) {
        shown = same;
        control = controlOf(focus);
        const made = control;
        made.addEventListener('change', () => send({ do: 'pick', value: made.value }));
        element.replaceChildren(h('label', { for: 'picture-picker' }, labelOf(focus)), made);
        element.scrollIntoView({ block: 'nearest' });
      }
      if (document.activeElement !== control) control.value = value;
    },
  };
}

function labelOf({ label }: Picked): string {
  return label === '' ? words.pickerUnnamed : fill(words.pickerNamed, { label });
}

function controlOf(focus: Picked): HTMLSelectElement | HTMLInputElement {
  const attributes = { id: 'picture-picker', class: 'input', autocomplete: 'off' };
  if (focus.kind === 'list') {
    const options = focus.options.map(({ label, disabled }, value) => h('option', { value, disabled }, label));
    return h('select', attributes, ...options);
  }
  const { input: type, min, max, step } = focus;
  return h('input', { ...attributes, type, min: min || null, max: max || null, step: step || null });
}
