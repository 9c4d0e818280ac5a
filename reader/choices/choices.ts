import type { ReadChoice } from '../../contract/reading.ts';
import { isAccountEntry, isAccountPicker, isOtherAccountEntry } from './account-picker.ts';
import { alternativeMethodType, credentialUsedBy } from './alternative-methods.ts';
import { SECOND_FACTOR, maskedDestination, mfaTypeOf } from './mfa-methods.ts';
import { isAboutSigningIn, isNearLogin, providerOf } from './sso.ts';
import type { ClickableFacts, FrameSnapshot } from '../facts.ts';
import { isContinueButton } from '../form/buttons.ts';
import type { LoginForm } from '../form/login-form.ts';
import { asksOnlyForProvider } from '../form/usable-controls.ts';
import { externalActionMessage } from '../signs/page-signs.ts';
import { normalize } from '../text/normalize.ts';

const MAX_CHOICES = 40;

/** What a page offers beside, or instead of, its fields. */
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
      const choice = judge(button, context);
      if (!choice) continue;
      // Two phones of one person are two choices, though both are called `Text message`.
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
  return withoutShadows(choices);
}

/** Beside a list of places to sign in at, its heading and the languages are links to the same place, whatever their addresses say. */
function leadsToSamePlace(form: LoginForm, { text, href }: ClickableFacts): boolean {
  const pathOf = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : '');
  return normalize(text) === normalize(form.heading) || (href !== '' && pathOf(href) === pathOf(form.frame.facts.url));
}

/** Words of a button that offers another way, beside those that only help with this one. */
const OFFERS =
  /(?<![a-z])(use|instead|enter|text me|call me|send me|verwenden|stattdessen|utiliser|usar|usa|gebruik)(?![a-z])|使用|代わり|использовать/;

/** What the page around a button is about. */
interface Context {
  readonly secondFactor: boolean;
  /** The page waits for something outside of it: only what clearly offers another way is a choice. */
  readonly outside: boolean;
  readonly accounts: boolean;
  readonly login: boolean;
  readonly besideLogin: (button: ClickableFacts) => boolean;
  /** Options beside a code field, whatever they are called: devices that a person gave names to. */
  readonly options: ReadonlySet<ClickableFacts>;
}

type Judged = Pick<ReadChoice, 'type' | 'label'> &
  Partial<Pick<ReadChoice, 'provider' | 'mfa_type' | 'uses' | 'masked_destination' | 'description'>>;

function contextOf(frame: FrameSnapshot, form: LoginForm | undefined): Context {
  const texts = frame.facts.texts.filter(
    (text) => text.within === 'none' && text.region !== 'footer' && text.region !== 'nav' && text.region !== 'consent',
  );
  // What a page is about stands in its headings or at its beginning, not somewhere in a long text.
  const topic = normalize(
    [frame.facts.title, ...texts.filter((text, index) => text.heading || index < 3).map((text) => text.plain)].join(
      ' | ',
    ),
  );
  const asksCode = form?.controls.some((each) => each.meaning === 'code') === true;
  const asksWho = form?.controls.some((each) => each.meaning === 'identifier') === true;
  const asksPassword = form?.controls.some((each) => each.meaning === 'password') === true;
  const outside = form === undefined && externalActionMessage([frame]) !== null;
  return {
    secondFactor: (asksCode && !asksWho) || outside || (!asksPassword && SECOND_FACTOR.test(topic)),
    outside,
    accounts: form === undefined && isAccountPicker(frame.facts, topic),
    login: form !== undefined,
    // A frame beside the one with the fields holds a provider's own button.
    besideLogin: (button) =>
      form === undefined ? isAboutSigningIn(frame.facts) : form.frame !== frame || isNearLogin(button, form),
    options: form?.frame === frame ? optionsBesideCode(form) : new Set(),
  };
}

/** Elements of the page's order between an option and the code field it is for. */
const BESIDE_CODE = 80;

/** Two or more controls of one make before or right after a field for a code alone, none of which sends it. */
function optionsBesideCode(form: LoginForm): Set<ClickableFacts> {
  const isCodeOnly = form.controls.every(({ meaning }) => meaning === 'code');
  const formAt = form.controls[0]?.control.form;
  const candidates = form.frame.facts.clickables.filter(
    (each) =>
      each.visible &&
      each.text !== '' &&
      each.text.length <= 60 &&
      each.form === formAt &&
      Math.abs(each.order - form.first) < BESIDE_CODE &&
      each !== form.submit?.button &&
      (each.type === 'radio' || ['button', 'option', 'radio', 'tab'].includes(each.role) || each.tag === 'button') &&
      each.type !== 'submit' &&
      !isContinueButton(each) &&
      !NO_OPTION.test(normalize(each.text)),
  );
  const makeOf = ({ tag, type, role, classes }: ClickableFacts): string =>
    [tag, type, role, classes.replace(/\b(active|selected|checked|current|is-\w+)\b/g, '').trim()].join(' ');
  const counts = new Map<string, number>();
  for (const each of candidates) counts.set(makeOf(each), (counts.get(makeOf(each)) ?? 0) + 1);
  return new Set(isCodeOnly ? candidates.filter((each) => (counts.get(makeOf(each)) ?? 0) >= 2) : []);
}

const NO_OPTION =
  /resend|send again|cancel|back|help|clear|show|hide|close|paste|language|menu|sign|log ?(in|out)|erneut|renvoyer|reenviar/;

function judge(button: ClickableFacts, context: Context): Judged | undefined {
  const [title = button.text, ...more] = button.lines;
  const label = (title || button.text).slice(0, 500);
  const description = more.length > 0 ? more.join(' ').slice(0, 500) : null;

  const sso = providerOf(button, { besideLogin: context.besideLogin(button) });
  if (sso) return { type: 'sso_provider', label: sso.label.slice(0, 500), provider: sso.provider };
  if (context.accounts) {
    if (isAccountEntry(button)) return { type: 'account', label: button.text.slice(0, 500), description };
    if (isOtherAccountEntry(button)) return { type: 'account', label };
  }
  if (context.secondFactor) {
    const mfa = mfaTypeOf(button);
    if (mfa && !(context.outside && mfa !== 'switch' && !OFFERS.test(normalize(button.text)))) {
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

/** A clickable row and the button inside it are one choice: the first, outer one stays. */
function withoutShadows(choices: readonly ReadChoice[]): ReadChoice[] {
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
