import type { ChoiceView } from '../../view.ts';
import { h } from '../dom.ts';
import { icon, type IconName } from '../icons.ts';
import { fill, words } from '../words.ts';

const MFA_ICONS: Record<NonNullable<ChoiceView['mfa']>, IconName> = {
  sms: 'message',
  call: 'phone',
  email: 'mail',
  totp: 'clock',
  push: 'device',
  password: 'key',
  switch: 'swap',
};

/** Choices as a list of large buttons, labeled with what distinguishes them. */
export function choiceList(
  choices: ChoiceView[],
  onChoose: (choice: ChoiceView, button: HTMLButtonElement) => void,
  labelledBy: string,
): HTMLElement {
  return h(
    'ul',
    { class: 'choices', 'aria-labelledby': labelledBy, role: 'list' },
    ...choices.map((choice) => {
      const button = h(
        'button',
        { type: 'button', class: 'choice' },
        mark(choice),
        h(
          'span',
          { class: 'choice-text' },
          h('span', { class: 'choice-label', dir: 'auto' }, labelOf(choice)),
          ...(choice.keeps === null ? choice.details : [STORED[choice.keeps].text]).map((detail) =>
            h('span', { class: 'choice-detail', dir: 'auto' }, detail),
          ),
        ),
        icon('chevron', 'icon chevron'),
      );
      button.addEventListener('click', () => onChoose(choice, button));
      return h('li', {}, button);
    }),
  );
}

/** What Holdfast may store, in our own words. */
const STORED = {
  passkey: { heading: words.headingPasskey, label: words.keepPasskey, text: words.keepPasskeyText },
  authenticator: {
    heading: words.headingAuthenticator,
    label: words.keepAuthenticator,
    text: words.keepAuthenticatorText,
  },
} as const;

/** Heading of an interaction with nothing but these choices. */
export function choiceHeading(choices: ChoiceView[]): string {
  const kept = choices.find(({ keeps }) => keeps !== null)?.keeps ?? null;
  if (kept !== null) return STORED[kept].heading;
  const every = (...types: ChoiceView['type'][]) => choices.every(({ type }) => types.includes(type));
  if (every('mfa_method')) return words.headingMfa;
  if (every('account')) return words.headingAccount;
  if (every('other')) return words.headingOther;
  return words.headingChoice;
}

/** Sites often label such a button only "Google": say what it does. */
function labelOf(choice: ChoiceView): string {
  if (choice.keeps !== null) return STORED[choice.keeps].label;
  const bare = choice.type === 'sso_provider' && /^[\p{L}\d.]+$/u.test(choice.label);
  return bare ? fill(words.continueWith, { name: choice.label }) : choice.label;
}

function mark(choice: ChoiceView): HTMLElement {
  if (choice.mfa !== null) return h('span', { class: 'choice-mark' }, icon(MFA_ICONS[choice.mfa]));
  if (choice.keeps !== null) return h('span', { class: 'choice-mark' }, icon('key'));
  const icons: Partial<Record<ChoiceView['type'], IconName>> = {
    mfa_method: 'lock',
    sign_in_method: 'key',
    auth_method: 'key',
    identifier_method: 'mail',
    other: 'door',
  };
  const name = icons[choice.type];
  if (name !== undefined) return h('span', { class: 'choice-mark' }, icon(name));
  const letter = /[\p{L}\d]/u.exec(providerName(choice))?.[0];
  return h(
    'span',
    { class: 'choice-mark choice-letter', 'aria-hidden': 'true' },
    letter === undefined ? icon('person') : letter.toUpperCase(),
  );
}

/** "Continue with Google" → "Google", so that its mark is a G. */
function providerName({ type, label }: ChoiceView): string {
  return type === 'sso_provider' ? label.replace(/^.*\b(?:with|using|via|mit|über)\s+/i, '') : label;
}
