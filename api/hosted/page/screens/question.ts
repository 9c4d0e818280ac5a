import type { ChoiceView, FlowView } from '../../view.ts';
import type { Answer } from '../calls.ts';
import { emphasize, h } from '../dom.ts';
import { heading, type Screen } from '../frame.ts';
import { icon } from '../icons.ts';
import { createScreencast } from '../screencast/screencast.ts';
import { fill, words } from '../words.ts';
import { choiceHeading, choiceList } from './choices.ts';
import { fieldControl, type FieldControl } from './field.ts';
import { spinner } from './progress.ts';
import { safety, siteQuote } from './notices.ts';

/** Submits an answer. Resolves to null if the page moves on, else to the error, after which it may be sent again. */
export type Submit = (answer: Answer) => Promise<string | null>;

/** Usernames of this visit by credential reference, to correct typos. Never holds a secret. */
export type RememberedUsernames = Map<string, string>;

/** The screen of an interaction: fields, choices or both, and the site's reaction to the last answer. */
export function questionScreen(view: FlowView, names: RememberedUsernames, submit: Submit): Screen {
  const interaction = view.interaction_id ?? '';
  const external = view.step === 'AWAITING_EXTERNAL_ACTION';
  const controls = view.fields.map((field, index) => fieldControl(field, index, names.get(field.ref) ?? ''));
  const title = view.acts_on_page ? words.pictureHeading : external ? words.externalHeading : titleOf(view);
  const failure = h('div', { class: 'notice notice-error', role: 'alert', hidden: true });
  const rejection = showRejection(view, controls);
  const busy = createBusyState();

  const send = async (answer: Omit<Answer, 'interaction_id'>, button: HTMLButtonElement) => {
    if (!busy.begin(button)) return;
    failure.hidden = true;
    const problem = await submit({ interaction_id: interaction, ...answer });
    if (problem === null) {
      // The values were sent: clear the inputs, even if this screen stays in memory.
      for (const { input } of controls) input.value = '';
      return;
    }
    busy.end();
    failure.replaceChildren(icon('alert'), h('p', {}, problem));
    failure.hidden = false;
  };
  const anotherForm = (button: HTMLButtonElement) => void send({ wrong_form: true }, button);
  const choose = (choice: ChoiceView, button: HTMLButtonElement) =>
    void send({ selected_choice_id: choice.id }, button);

  const form = controls.length > 0 ? fieldForm(view, controls, names, send) : null;
  const listLabel = h(
    'h2',
    { id: 'choices-label', class: form || external ? 'divider' : 'visually-hidden' },
    h('span', {}, external && !form ? words.externalInstead : form ? words.or : title),
  );
  const list = view.choices.length > 0 ? choiceList(view.choices, choose, listLabel.id) : null;
  const content = h(
    'section',
    { class: 'screen' },
    heading(title),
    external ? externalAction(view) : null,
    view.acts_on_page ? createScreencast() : null,
    view.form_notice === null
      ? null
      : h('p', { class: 'lead', role: 'status' }, formNotices[view.form_notice](view.domain)),
    rejection,
    failure,
    form,
    list && listLabel,
    list,
    asksForCredentials(view) ? wrongFormButton(anotherForm) : null,
    safety(view.domain, view.saves_credentials),
  );
  const wrong = controls.find(({ view: field }) => field.rejected);
  const focus = external ? undefined : (wrong ?? controls[0])?.input;
  const failed = rejection !== null || wrong !== undefined;
  return {
    key: `question:${interaction}:${view.step}:${view.external_action_message ?? ''}`,
    content,
    announcement: announcementOf(view, title, focus !== undefined),
    title: failed ? fill(words.errorTitle, { title: `${title} · Holdfast` }) : `${title} · Holdfast`,
    site: view.domain,
    ...(focus === undefined ? {} : { focus }),
  };
}

function fieldForm(
  view: FlowView,
  controls: FieldControl[],
  names: RememberedUsernames,
  send: (answer: Omit<Answer, 'interaction_id'>, button: HTMLButtonElement) => Promise<void>,
): HTMLElement {
  const complete = view.fields.some(({ type }) => type === 'password');
  const button = h(
    'button',
    { type: 'submit', class: 'primary' },
    h('span', {}, complete ? words.signIn : words.continue),
  );
  const form = h(
    'form',
    { class: 'form', novalidate: true, 'aria-label': titleOf(view) },
    ...controls.map((one) => one.element),
    button,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const missing = controls.filter((one) => one.view.required && one.value() === '');
    for (const one of controls)
      if (missing.includes(one) || !one.view.rejected)
        one.setError(missing.includes(one) ? fill(words.fieldMissing, { label: one.label }) : null);
    if (missing[0]) {
      missing[0].input.focus();
      return;
    }
    for (const one of controls) if (one.view.type === 'identifier') names.set(one.view.ref, one.value());
    const filled = controls.map((one) => [one.view.id, one.value()] as const).filter(([, value]) => value !== '');
    void send({ field_values: Object.fromEntries(filled) }, button);
  });
  return form;
}

/**
 * Shows the site's error where it belongs: at the field if only one was rejected, above the form if several were or the site did
 * not say which.
 */
function showRejection(view: FlowView, controls: FieldControl[]): HTMLElement | null {
  const rejected = controls.filter((one) => one.view.rejected);
  const ours = fill(words.rejected, { domain: view.domain });
  const [only] = rejected;
  if (only && rejected.length === 1) {
    only.setError(
      view.website_error ? `${fill(words.siteSays, { domain: view.domain })}: ${view.website_error}` : ours,
    );
    return null;
  }
  if (view.website_error === null) {
    for (const one of rejected) one.setError(ours);
    return null;
  }
  for (const one of rejected) one.addDescription('site-error');
  return siteQuote(view.domain, view.website_error, 'site-error');
}

const formNotices: Record<NonNullable<FlowView['form_notice']>, (domain: string) => string> = {
  another_form: (domain) => fill(words.anotherForm, { domain }),
  first_form_again: (domain) => fill(words.firstFormAgain, { domain }),
};

/** True if the interaction asks for credentials: codes, second factors and account choices only come from the right form. */
function asksForCredentials({ step, fields, choices }: FlowView): boolean {
  if (step !== 'AWAITING_INPUT') return false;
  return fields.length > 0
    ? fields.some(({ type }) => type === 'identifier' || type === 'password')
    : choices.every(({ type }) => type !== 'mfa_method' && type !== 'account' && type !== 'other');
}

function wrongFormButton(onPress: (button: HTMLButtonElement) => void): HTMLElement {
  const button = h('button', { type: 'button', class: 'link-button' }, words.wrongForm);
  button.addEventListener('click', () => onPress(button));
  return button;
}

function externalAction(view: FlowView): HTMLElement {
  const message = view.acts_on_page ? words.pictureText : view.external_action_message?.trim();
  return h(
    'div',
    { class: 'external' },
    h(
      'div',
      { class: 'instruction' },
      h('span', { class: 'instruction-mark' }, icon('device')),
      message
        ? h('p', { class: 'instruction-text', dir: 'auto' }, message)
        : h('p', { class: 'instruction-text' }, ...emphasize(words.externalDefault, view.domain)),
    ),
    view.acts_on_page ? null : h('p', { class: 'lead' }, ...emphasize(words.externalText, view.domain)),
    h('p', { class: 'waiting' }, spinner(), h('span', {}, words.externalWaiting)),
  );
}

function titleOf(view: FlowView): string {
  const has = (type: FlowView['fields'][number]['type']) => view.fields.some((field) => field.type === type);
  if (view.fields.length === 0) return choiceHeading(view.choices);
  if (has('identifier') && view.fields.length === 1) return words.headingIdentifier;
  if (has('password') && view.fields.length === 1) return words.headingPassword;
  if (has('identifier') || has('password')) return words.headingSignIn;
  if (has('totp_code')) return words.headingTotpCode;
  return has('code') ? words.headingCode : words.headingText;
}

/** What a screen reader would miss: it reads the focused field or heading by itself. */
function announcementOf(view: FlowView, title: string, onField: boolean): string {
  const error = view.website_error ? `${fill(words.siteSays, { domain: view.domain })}: ${view.website_error}` : '';
  const message = view.step === 'AWAITING_EXTERNAL_ACTION' ? view.external_action_message : null;
  return [error, onField ? `${title}.` : '', message ?? ''].filter(Boolean).join(' ');
}

/** Allows one answer at a time. The pressed button keeps the focus, so it is `aria-disabled` and not `disabled`. */
function createBusyState() {
  let pressed: { button: HTMLButtonElement; contents: Node[] } | null = null;
  return {
    begin(button: HTMLButtonElement): boolean {
      if (pressed !== null) return false;
      pressed = { button, contents: [...button.childNodes] };
      button.setAttribute('aria-disabled', 'true');
      button.closest('.screen')?.classList.add('busy');
      if (button.classList.contains('primary')) button.replaceChildren(spinner(), h('span', {}, words.sending));
      else button.classList.add('pressed');
      return true;
    },
    end(): void {
      if (pressed === null) return;
      const { button, contents } = pressed;
      pressed = null;
      button.removeAttribute('aria-disabled');
      button.classList.remove('pressed');
      button.closest('.screen')?.classList.remove('busy');
      button.replaceChildren(...contents);
    },
  };
}
