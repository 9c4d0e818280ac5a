import { document, html, nothing, type Html } from '../markup.ts';
import { CARD_STYLES } from './password-step.ts';

/** One way to get a code, as its button shows it. */
export interface Method {
  readonly value: string;
  readonly title: string;
  readonly detail: string;
}

/** A page that asks how a code is to come: each method is a button of one form, which posts its value as `name`. */
export function methodPage(action: string, name: string, methods: readonly Method[], after: Html = nothing): string {
  const rows = methods.map(
    ({ value, title, detail }) =>
      html`<li>
        <button class="list-group-item" type="submit" name="${name}" value="${value}">
          <strong>${title}</strong><br /><small>${detail}</small>
        </button>
      </li>`,
  );
  return document(
    "Verify it's you",
    CARD_STYLES,
    html`<div class="container">
      <div class="card">
        <h2>Verify it's you</h2>
        <p>How would you like to get your security code?</p>
        <form method="post" action="${action}">
          <ul class="list-group">
            ${rows}
          </ul>
        </form>
        ${after}
      </div>
    </div>`,
  );
}
