import type { PageReading } from '../../contract/reading.ts';
import type { ClickableFacts, FrameSnapshot } from '../facts.ts';
import { identifierWords, normalize } from '../text/normalize.ts';
import { FORGOT, SIGN_IN, SIGN_UP } from '../text/words.ts';

/** A link or button that leads to a login page. */
type SignInLink = NonNullable<PageReading['sign_in_link']>;

/** The link or button that most likely leads to the login page, or null. Folded menus count, after what can be seen. */
export function readSignInLink(frames: readonly FrameSnapshot[]): SignInLink | null {
  return readSignInLinks(frames)[0] ?? null;
}

/** All that may lead to a login page, the likeliest first: a site may have entrances for customers, partners and staff. */
export function readSignInLinks(frames: readonly FrameSnapshot[]): SignInLink[] {
  const [top] = frames;
  if (!top) return [];
  return rankSignInLinks(top.facts.clickables).map((button) => ({
    selector: button.selector,
    href: absolute(button.href, top.facts.url),
  }));
}

/** Points from which a control is taken for an entrance; the fit holds them. */
export const MIN_LINK_SCORE = 4;

/** Of some controls those that may lead to a login, the likeliest first. */
export function rankSignInLinks(
  controls: readonly ClickableFacts[],
  weights: LinkWeights = LINK_WEIGHTS,
): ClickableFacts[] {
  return controls
    .map((button) => ({ button, points: rate(button, weights) }))
    .filter(({ points }) => points >= MIN_LINK_SCORE)
    .sort((a, b) => b.points - a.points || a.button.order - b.button.order)
    .map(({ button }) => button);
}

function rate(button: ClickableFacts, weights: LinkWeights): number {
  return linkSigns(button).reduce((sum, sign) => sum + weights[sign], 0);
}

/** What speaks for and against a control that may lead to a login; nothing where nothing speaks for it. */
export function linkSigns(button: ClickableFacts): LinkSign[] {
  const said = normalize(button.text || button.ariaLabel || button.title);
  const address = addressWords(button.href);
  const signs: LinkSign[] = [];
  const when = (is: boolean, sign: LinkSign): void => {
    if (is) signs.push(sign);
  };
  const asksHolders = said.length <= 60 && HOLDERS.test(said);
  const says = (said.length <= 40 || asksHolders) && SIGN_IN.test(said);
  when(says, said.length <= 20 || asksHolders ? 'saysShortly' : 'saysAtLength');
  when(!says && ACCOUNT.test(said), 'saysAccount');
  when(SIGN_IN_ADDRESS.test(address), 'address');
  if (signs.length === 0) return [];
  when(/oauth|google|facebook|github|twitter|apple|saml/.test(`${said} ${address}`), 'provider');
  when(SIGN_UP.test(said) && !SIGN_IN.test(said), 'signsUp');
  when(FORGOT.test(said) || /password|reset|forgot/.test(address), 'forgot');
  when(/\/(blog|docs|help|support|article|news)\//.test(button.href), 'article');
  when(button.region === 'header' || button.region === 'nav', 'inHead');
  when(button.region === 'footer', 'inFooter');
  when(button.region === 'consent', 'inConsent');
  when(button.inText, 'inText');
  // What nobody sees is pressed only where it says plainly what it is.
  when(!button.visible, 'unseen');
  // Settings of an account link to how one signs in to it; `Signing in` names that topic, it asks nobody to.
  when(/\/(settings|preferences|profile|admin|[a-z-]*security)\//i.test(`${button.href}/`), 'settings');
  when(/^(signing|logging) in$/.test(said), 'topic');
  when(button.tag !== 'a' && button.href === '', 'runsScript');
  return signs;
}

/** How pages turn to those who have an account there, before they say where to sign in. */
const HOLDERS =
  /^\P{L}*(already|returning|existing|got an account|have an account|do you have an account|bereits|schon|deja|vous avez deja|vous etes deja|ya (tienes|eres|estas|tiene|es)|hai gia|sei gia|gia|ja (tem|e|possui|sou)|heb je al|al (klant|een account)|masz juz|har du redan|allerede|уже)(?!\p{L})/u;
const ACCOUNT = /^(my |mein |mon |mi |il mio )?(account|konto|compte|cuenta|profile|マイページ|我的账户)$/;
const SIGN_IN_ADDRESS =
  /(^| )(login|log in|signin|sign in|sign on|logon|sso|auth|anmelden|connexion|einloggen|session new|sessions new|accedi|entrar|giris)( |$)/;

function addressWords(href: string): string {
  return identifierWords(href.replace(/^https?:\/\//, '').slice(0, 200));
}

/** Absolute web address of a link; null for one that only runs a script. */
function absolute(href: string, base: string): string | null {
  if (href === '' || href.startsWith('#')) return null;
  try {
    const url = new URL(href, base);
    return ['http:', 'https:', 'file:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** What speaks for or against a control that may lead to a login. */
export type LinkSign = keyof typeof LINK_WEIGHTS;

/** Points by which controls are told apart. */
export type LinkWeights = Readonly<Record<LinkSign, number>>;

/**
 * `npm run bench -- fit` fits them on the pages of test/pages whose way in is known. Its fit gets no page right that these get
 * wrong, so that they stay as they are.
 */
export const LINK_WEIGHTS = {
  saysShortly: 6,
  saysAtLength: 4,
  saysAccount: 3,
  address: 3,
  provider: -4,
  signsUp: -8,
  forgot: -8,
  article: -5,
  inHead: 1,
  inFooter: -1,
  inConsent: -10,
  inText: -1,
  unseen: -3,
  settings: -6,
  topic: -3,
  runsScript: -1,
};
