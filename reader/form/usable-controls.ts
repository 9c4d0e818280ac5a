import type { ControlFacts, FrameFacts, TextFacts } from '../facts.ts';
import {
  type ClassifiedControl,
  isDeviceList,
  isPreferenceList,
  isRealmList,
  classifyControl,
  controlWords,
} from './control-meaning.ts';
import { anyOf, normalize } from '../text/normalize.ts';

/** What pages call the servers of others that people sign in at. */
const IDENTITY_PROVIDER = anyOf(
  'identity provider, home organization, home organisation, your institution, login provider, where are you from',
  'where you want to authenticate, where do you want to log in, where do you want to sign in',
  'heimatorganisation, heimateinrichtung, ihre einrichtung, identitatsanbieter, fournisseur d identite, votre etablissement',
  'proveedor de identidad, su institucion, provider di identita, provedor de identidade',
);

/**
 * The list of places to sign in at, where a page has such a list, speaks of them, and has no other list; undefined otherwise. Such a
 * page comes before the login that it leads to.
 */
export function findProviderList({ title, texts, controls }: FrameFacts): ControlFacts | undefined {
  const lists = controls.filter(
    (each) => each.tag === 'select' && each.visible && !each.disabled && !isPreferenceList(each),
  );
  const [only, another] = lists;
  if (only === undefined || another !== undefined || only.options.length < 2) return undefined;
  const headings = texts.filter(({ heading, within }) => heading && within === 'none').map(({ text }) => text);
  const said = normalize([title, ...headings].join(' | '));
  return IDENTITY_PROVIDER.test(`${said} | ${controlWords(only).said}`) ? only : undefined;
}

/** Fields that belong together, and the frame that they stand in. */
interface Fields {
  readonly controls: readonly ClassifiedControl[];
  readonly frame: { readonly facts: FrameFacts };
}

/** True for a list of places to sign in at and nothing else to fill in: it is answered before the login that it leads to. */
export function asksOnlyForProvider({ controls, frame }: Fields): boolean {
  const [only, another] = controls;
  return (
    only !== undefined && another === undefined && findProviderList(frame.facts)?.selector === only.control.selector
  );
}

/** The controls of a frame that a visitor can fill in, honeypots left out. */
export function usableControls(facts: FrameFacts): ControlFacts[] {
  const lockedSecret = facts.controls.some((each) => each.type === 'password' && each.readOnly && each.visible);
  const takesCode = facts.controls.some(
    (each) => each.visible && each.tag === 'input' && classifyControl(each).meaning === 'code',
  );
  const shown = facts.controls
    .filter(isOpen)
    .filter((control) =>
      control.tag === 'select'
        ? isRealmList(control) || (takesCode && isDeviceList(control))
        : takesText(control, lockedSecret, facts.texts),
    );
  if (shown.length === 0) {
    const list = findProviderList(facts);
    return list === undefined ? [] : [list];
  }
  const clear = shown.filter((control) => control.ariaHidden === 'no');
  return clear.length > 0 ? clear : shown;
}

function isOpen({ visible, ariaHidden, disabled }: ControlFacts): boolean {
  return visible && ariaHidden !== 'self' && !disabled;
}

function takesText(control: ControlFacts, lockedSecret: boolean, texts: readonly TextFacts[]): boolean {
  // What is readonly against browsers opens when it is entered; what shows a value is only shown.
  if (control.readOnly && !control.opensOnFocus && (control.filled || !lockedSecret)) return false;
  const { said, named } = controlWords(control);
  if (TRAP.test(`${said} | ${named}`)) return false;
  // Code inputs are laid, see-through, over boxes that are only drawn.
  if (control.transparent)
    return (
      (control.autocomplete.includes('one-time-code') && control.box.width >= 20) || isUnderItsLabel(control, texts)
    );
  // A field that no key can reach and that no person is told about is a trap.
  return !(control.tabIndex < 0 && control.autocomplete === 'off' && !control.label && !control.placeholder);
}

/** True for a field in whose place its label can be seen: it is see-through until it has the keyboard or a value. */
function isUnderItsLabel({ label, ariaLabel, box }: ControlFacts, texts: readonly TextFacts[]): boolean {
  const names = [label, ariaLabel].filter(Boolean).map(withoutMark);
  return texts.some(({ plain, box: seen }) => {
    const [x, y] = [seen.x + seen.width / 2 - box.x, seen.y + seen.height / 2 - box.y];
    return x >= 0 && x <= box.width && y >= 0 && y <= box.height && names.includes(withoutMark(plain));
  });
}

/** A label's words without the mark of what must be filled in. */
function withoutMark(label: string): string {
  return normalize(label).replace(/[\s*＊:]+$/, '');
}

/** What authors call fields that only programs fill in. */
const TRAP =
  /honey ?pot|fake ?(user|pass)|leave (this )?(field )?(empty|blank)|(do not|don't) fill|nicht ausfullen|leer lassen|laisse[rz] (ce champ )?vide|no rellen|deja(r)? (este campo )?vacio|lascia(re)? vuoto|niet invullen/;

/** True for a page that wants a new password, given twice or beside the old one, and asks for no name: no sign-up either. */
export function asksNewPassword(facts: FrameFacts): boolean {
  const meanings = usableControls(facts).map((control) => classifyControl(control).meaning);
  const passwords = meanings.filter((meaning) => meaning === 'password' || meaning === 'new_password');
  return passwords.length >= 2 && meanings.includes('new_password') && !meanings.includes('identifier');
}
