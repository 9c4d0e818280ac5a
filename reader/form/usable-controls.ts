import type { ControlFacts, FrameFacts, FrameSnapshot, TextFacts } from '../facts.ts';
import {
  type ClassifiedControl,
  classifyControl,
  controlWords,
  isCharacterList,
  isDeviceList,
  isDialingCodeList,
  isPreferenceList,
  isRealmList,
  isUnansweredList,
} from './control-meaning.ts';
import { anyOf, normalize } from '../text/normalize.ts';
import { titleAndHeadings } from '../text/page-text.ts';
import { PHONE } from '../text/words.ts';

const IDENTITY_PROVIDER = anyOf(
  'identity provider, home organization, home organisation, your institution, login provider, where are you from',
  'where you want to authenticate, where do you want to log in, where do you want to sign in',
  'heimatorganisation, heimateinrichtung, ihre einrichtung, identitatsanbieter, fournisseur d identite, votre etablissement',
  'proveedor de identidad, su institucion, provider di identita, provedor de identidade',
);

/** The identity provider list of a page that mentions such a choice and has no other list. It precedes the login itself. */
function findProviderList({ title, texts, controls }: FrameFacts): ControlFacts | undefined {
  const lists = controls.filter(
    (each) => each.tag === 'select' && each.visible && !each.disabled && !isPreferenceList(each),
  );
  const [only, another] = lists;
  if (only === undefined || another !== undefined || only.options.length < 2) return undefined;
  const said = titleAndHeadings({ title, texts });
  return IDENTITY_PROVIDER.test(`${said} | ${controlWords(only).said}`) ? only : undefined;
}

/** True if the only field of a cluster is an identity provider list. */
export function asksOnlyForProvider({
  controls,
  frame,
}: {
  readonly controls: readonly ClassifiedControl[];
  readonly frame: FrameSnapshot;
}): boolean {
  const [only, another] = controls;
  return (
    only !== undefined && another === undefined && findProviderList(frame.facts)?.selector === only.control.selector
  );
}

/** The controls of a frame that a visitor can fill in, without honeypots. */
export function usableControls(facts: FrameFacts): ControlFacts[] {
  const lockedSecret = facts.controls.some((each) => each.type === 'password' && each.readOnly && each.visible);
  const takesCode = facts.controls.some(
    (each) => each.visible && each.tag === 'input' && classifyControl(each).meaning === 'code',
  );
  const takesPhone = facts.controls.some((each) => each.visible && isPhoneField(each));
  const shown = facts.controls
    .filter(isFillable)
    .filter((control) =>
      control.tag === 'select'
        ? isRealmList(control) ||
          isCharacterList(control) ||
          isUnansweredList(control, facts.controls) ||
          (takesCode && isDeviceList(control)) ||
          (takesPhone && isDialingCodeList(control))
        : acceptsText(control, lockedSecret, facts.texts),
    );
  if (shown.length === 0) {
    const list = findProviderList(facts);
    return list === undefined ? [] : [list];
  }
  const clear = shown.filter((control) => control.ariaHidden === 'no');
  return clear.length > 0 ? clear : shown;
}

function isPhoneField(control: ControlFacts): boolean {
  return control.type === 'tel' || (control.tag === 'input' && PHONE.test(controlWords(control).said));
}

function isFillable({ visible, ariaHidden, disabled }: ControlFacts): boolean {
  return visible && ariaHidden !== 'self' && !disabled;
}

function acceptsText(control: ControlFacts, lockedSecret: boolean, texts: readonly TextFacts[]): boolean {
  // A field that is read-only to prevent autofill opens on focus; one that already has a value is for display only.
  if (control.readOnly && !control.opensOnFocus && (control.filled || !lockedSecret)) return false;
  const { said, named } = controlWords(control);
  if (HONEYPOT.test(`${said} | ${named}`)) return false;
  // Transparent code inputs often overlay decorative boxes.
  if (control.transparent)
    return (
      (control.autocomplete.includes('one-time-code') && control.box.width >= 20) || isOverlaidByLabel(control, texts)
    );
  // A field that is neither reachable by keyboard nor labeled is a honeypot.
  return !(control.tabIndex < 0 && control.autocomplete === 'off' && !control.label && !control.placeholder);
}

/** True for a field that is covered by its own label: it stays transparent until it has focus or a value. */
function isOverlaidByLabel({ label, ariaLabel, box }: ControlFacts, texts: readonly TextFacts[]): boolean {
  const names = [label, ariaLabel].filter(Boolean).map(withoutRequiredMark);
  return texts.some(({ plain, box: seen }) => {
    const [x, y] = [seen.x + seen.width / 2 - box.x, seen.y + seen.height / 2 - box.y];
    return x >= 0 && x <= box.width && y >= 0 && y <= box.height && names.includes(withoutRequiredMark(plain));
  });
}

function withoutRequiredMark(label: string): string {
  return normalize(label).replace(/[\s*＊:]+$/, '');
}

/** Names and labels of honeypot fields. */
const HONEYPOT =
  /honey ?pot|fake ?(user|pass)|leave (this )?(field )?(empty|blank)|(do not|don't) fill|nicht ausfullen|leer lassen|laisse[rz] (ce champ )?vide|no rellen|deja(r)? (este campo )?vacio|lascia(re)? vuoto|niet invullen/;

/** True for a page that sets a new password (entered twice, or with the old one) and asks for no identifier, so it is no sign-up. */
export function asksNewPassword(facts: FrameFacts): boolean {
  const meanings = usableControls(facts).map((control) => classifyControl(control).meaning);
  const passwords = meanings.filter((meaning) => meaning === 'password' || meaning === 'new_password');
  return passwords.length >= 2 && meanings.includes('new_password') && !meanings.includes('identifier');
}
