import { emphasize, h } from '../dom.ts';
import { icon } from '../icons.ts';
import { words } from '../words.ts';

/** Text from the site, shown as a quotation and never as part of what Holdfast says. */
export function siteQuote(domain: string, text: string, id?: string): HTMLElement {
  return h(
    'div',
    { class: 'notice notice-error', id },
    icon('alert'),
    h(
      'div',
      {},
      h('p', { class: 'notice-title' }, ...emphasize(words.siteSays, domain), ':'),
      h('blockquote', { class: 'quote', dir: 'auto' }, text),
    ),
  );
}

/** What happens to the entered values, one click away on every screen that asks for any. */
export function safety(domain: string, savesCredentials: boolean): HTMLElement {
  return h(
    'details',
    { class: 'safety' },
    h('summary', {}, icon('lock'), h('span', {}, words.safetyTitle)),
    h(
      'ul',
      {},
      h('li', {}, ...emphasize(words.safetyTyped, domain)),
      h('li', {}, savesCredentials ? words.safetySaved : words.safetyNotSaved),
      h('li', {}, words.safetyExpected),
    ),
  );
}
