import { asksOfAppearance, wordsOf, type MeantControl } from './control-meaning.ts';
import type { ControlFacts, FrameFacts } from './facts.ts';
import { anyOf, normalize } from './normalize.ts';

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
export function listOfPlaces({ title, texts, controls }: FrameFacts): ControlFacts | undefined {
  const lists = controls.filter(
    (each) => each.tag === 'select' && each.visible && !each.disabled && !asksOfAppearance(each),
  );
  const [only, another] = lists;
  if (only === undefined || another !== undefined || only.options.length < 2) return undefined;
  const headings = texts.filter(({ heading, within }) => heading && within === 'none').map(({ text }) => text);
  const said = normalize([title, ...headings].join(' | '));
  return IDENTITY_PROVIDER.test(`${said} | ${wordsOf(only).said}`) ? only : undefined;
}

/** Fields that belong together, and the frame that they stand in. */
interface Fields {
  readonly controls: readonly MeantControl[];
  readonly frame: { readonly facts: FrameFacts };
}

/** True for a list of places to sign in at and nothing else to fill in: it is answered before the login that it leads to. */
export function asksOnlyWhere({ controls, frame }: Fields): boolean {
  const [only, another] = controls;
  return only !== undefined && another === undefined && listOfPlaces(frame.facts)?.selector === only.control.selector;
}
