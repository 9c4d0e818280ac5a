import type { ReadChoice } from '../../contract/reading.ts';
import { isAccountEntry, isAccountPicker, isOtherAccountEntry } from './account-picker.ts';
import { alternativeMethodType, credentialUsedBy } from './alternative-methods.ts';
import { SECOND_FACTOR, maskedDestination, mfaTypeOf } from './mfa-methods.ts';
import { isAboutSigningIn, isNearLogin, providerOf } from './sso.ts';
import type { ClickableFacts, FrameSnapshot } from '../facts.ts';
import { isContinueButton } from '../form/buttons.ts';
import type { ControlMeaning } from '../form/control-meaning.ts';
import type { LoginForm } from '../form/login-form.ts';
import { asksOnlyForProvider } from '../form/usable-controls.ts';
import { externalActionMessage } from '../signs/page-signs.ts';
import { normalize } from '../text/normalize.ts';
import { bodyTexts } from '../text/page-text.ts';

const MAX_CHOICES = 40;

/** The choices that a page offers next to, or instead of, its fields. */
export function readChoices(
  frames: readonly FrameSnapshot[],
  form: LoginForm | undefined,
  submit: string | undefined,
): ReadChoice[] {
  const choices: ReadChoice[] = [];
  const taken = new Set<string>();
  const question = form !== undefined && asksOnlyForProvider(form) ? form : null;
  for (const frame of frames) {
    const context = contextOf(frame, form);
    for (const button of frame.facts.clickables) {
      if (!button.visible || button.disabled || button.region === 'consent' || button.selector === submit) continue;
      if (question !== null && leadsToSamePlace(question, button)) continue;
      const choice = judgeButton(button, context);
      if (!choice) continue;
      // Two phones are two choices, even if both are called `Text message`.
      const key = `${choice.type} ${choice.provider ?? ''} ${normalize(choice.label)} ${choice.masked_destination ?? ''}`;
      if (taken.has(key) || choices.length >= MAX_CHOICES) continue;
      taken.add(key);
      choices.push({
        selector: button.selector,
        xpath: button.xpath,
        masked_destination: null,
        description: null,
        frame: [...frame.path],
        ...(button.type === 'radio' ? { needs_submit: true } : {}),
        ...choice,
      });
    }
  }
  return withoutNested(choices);
}

/** True for a link to the page itself, as the heading and the languages of an identity provider list are. */
function leadsToSamePlace(form: LoginForm, { text, href }: ClickableFacts): boolean {
  const pathOf = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : '');
  return normalize(text) === normalize(form.heading) || (href !== '' && pathOf(href) === pathOf(form.frame.facts.url));
}

/** Words of a button that offers another method rather than help with the current one. */
const OFFERS =
  /(?<![a-z])(use|instead|enter|text me|call me|send me|verwenden|stattdessen|utiliser|usar|usa|gebruik)(?![a-z])|使用|代わり|использовать/;

/** What the page around a button is about. */
interface Context {
  readonly secondFactor: boolean;
  /** The page waits for an external action: only a button that clearly offers another method is a choice. */
  readonly external: boolean;
  readonly accounts: boolean;
  readonly login: boolean;
  readonly besideLogin: (button: ClickableFacts) => boolean;
  /** Options next to a code field, whatever their names: devices that the user has named. */
  readonly options: ReadonlySet<ClickableFacts>;
}

type JudgedButton = Pick<ReadChoice, 'type' | 'label'> &
  Partial<Pick<ReadChoice, 'provider' | 'mfa_type' | 'uses' | 'masked_destination' | 'description'>>;

function contextOf(frame: FrameSnapshot, form: LoginForm | undefined): Context {
  // The topic of a page is in its headings or at its beginning, not somewhere in a long text.
  const texts = bodyTexts(frame.facts).filter(({ heading }, index) => heading || index < 3);
  const topic = normalize([frame.facts.title, ...texts.map(({ plain }) => plain)].join(' | '));
  const asksFor = (wanted: ControlMeaning): boolean =>
    form?.controls.some(({ meaning }) => meaning === wanted) === true;
  const external = form === undefined && externalActionMessage([frame]) !== null;
  return {
    secondFactor:
      (asksFor('code') && !asksFor('identifier')) || external || (!asksFor('password') && SECOND_FACTOR.test(topic)),
    external,
    accounts: form === undefined && isAccountPicker(frame.facts, topic),
    login: form !== undefined,
    // A frame next to the one with the fields contains a provider's own button.
    besideLogin: (button) =>
      form === undefined ? isAboutSigningIn(frame.facts) : form.frame !== frame || isNearLogin(button, form),
    options: form?.frame === frame ? optionsBesideCode(form) : new Set(),
  };
}

/** Maximum distance between an option and its code field, in document order. */
const BESIDE_CODE = 80;

/** Two or more buttons of the same kind next to a form with only code fields, none of which submits it. */
function optionsBesideCode(form: LoginForm): Set<ClickableFacts> {
  const isCodeOnly = form.controls.every(({ meaning }) => meaning === 'code');
  const formIndex = form.controls[0]?.control.form;
  const candidates = form.frame.facts.clickables.filter(
    (each) =>
      each.visible &&
      each.text !== '' &&
      each.text.length <= 60 &&
      each.form === formIndex &&
      Math.abs(each.order - form.first) < BESIDE_CODE &&
      each !== form.submit?.button &&
      (each.type === 'radio' || ['button', 'option', 'radio', 'tab'].includes(each.role) || each.tag === 'button') &&
      each.type !== 'submit' &&
      !isContinueButton(each) &&
      !NOT_AN_OPTION.test(normalize(each.text)),
  );
  const kindOf = ({ tag, type, role, classes }: ClickableFacts): string =>
    [tag, type, role, classes.replace(/\b(active|selected|checked|current|is-\w+)\b/g, '').trim()].join(' ');
  const counts = new Map<string, number>();
  for (const each of candidates) counts.set(kindOf(each), (counts.get(kindOf(each)) ?? 0) + 1);
  return new Set(isCodeOnly ? candidates.filter((each) => (counts.get(kindOf(each)) ?? 0) >= 2) : []);
}

const NOT_AN_OPTION =
  /resend|send again|cancel|back|help|clear|show|hide|close|paste|language|menu|sign|log ?(in|out)|erneut|renvoyer|reenviar/;

function judgeButton(button: ClickableFacts, context: Context): JudgedButton | undefined {
  const [title = button.text, ...more] = button.lines;
  const label = (title || button.text).slice(0, 500);
  const description = more.length > 0 ? more.join(' ').slice(0, 500) : null;

  const sso = providerOf(button, context.besideLogin(button));
  if (sso) return { type: 'sso_provider', label: sso.label.slice(0, 500), provider: sso.provider };
  if (context.accounts) {
    if (isAccountEntry(button)) return { type: 'account', label: button.text.slice(0, 500), description };
    if (isOtherAccountEntry(button)) return { type: 'account', label };
  }
  if (context.secondFactor) {
    const mfa = mfaTypeOf(button);
    if (mfa && !(context.external && mfa !== 'switch' && !OFFERS.test(normalize(button.text)))) {
      const masked = maskedDestination(button.text) ?? null;
      const type = mfa === 'other' ? {} : { mfa_type: mfa };
      return {
        type: 'mfa_method',
        label,
        description,
        masked_destination: masked,
        ...type,
        ...credentialUsedBy(button),
      };
    }
  }
  if (context.options.has(button)) return { type: 'mfa_method', label, description };
  const way = alternativeMethodType(button, context.login);
  return way ? { type: way, label, description, ...credentialUsedBy(button) } : undefined;
}

/** A clickable row and the button inside it are one choice: keeps the outer one. */
function withoutNested(choices: readonly ReadChoice[]): ReadChoice[] {
  return choices.filter(
    (choice, index) =>
      !choices.some(
        (other, at) =>
          at < index &&
          other.type === choice.type &&
          choice.selector.startsWith(`${other.selector} `) &&
          other.frame.join() === choice.frame.join(),
      ),
  );
}
