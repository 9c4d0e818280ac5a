import type { PageReading } from '../../contract/reading.ts';
import type { ClickableFacts, FrameSnapshot } from '../facts.ts';
import { identifierWords, normalize } from '../text/normalize.ts';
import { FORGOT, SIGN_IN, SIGN_UP } from '../text/words.ts';

type SignInLink = NonNullable<PageReading['sign_in_link']>;

/** The link or button that most likely leads to the login page, or null. Includes collapsed menus, ranked below visible links. */
export function readSignInLink(frames: readonly FrameSnapshot[]): SignInLink | null {
  return readSignInLinks(frames)[0] ?? null;
}

/** All candidates for a link to a login page, most likely first: a site may have one each for customers, partners and staff. */
export function readSignInLinks(frames: readonly FrameSnapshot[]): SignInLink[] {
  const [top] = frames;
  if (!top) return [];
  return rankSignInLinks(top.facts.clickables).map((button) => ({
    selector: button.selector,
    href: absolute(button.href, top.facts.url),
  }));
}

/** Minimum score of a sign-in link; `npm run bench -- fit` fits the weights to it. */
export const MIN_LINK_SCORE = 4;

/** The controls that may lead to a login, most likely first. */
export function rankSignInLinks(
  controls: readonly ClickableFacts[],
  weights: LinkWeights = LINK_WEIGHTS,
): ClickableFacts[] {
  return controls
    .map((button) => ({ button, score: score(button, weights) }))
    .filter(({ score }) => score >= MIN_LINK_SCORE)
    .sort((a, b) => b.score - a.score || a.button.order - b.button.order)
    .map(({ button }) => button);
}

function score(button: ClickableFacts, weights: LinkWeights): number {
  return linkSigns(button).reduce((sum, sign) => sum + weights[sign], 0);
}

/** Signs for and against a link to a login; empty if there is none for it. */
export function linkSigns(button: ClickableFacts): LinkSign[] {
  const said = normalize(button.text || button.ariaLabel || button.title);
  const address = addressWords(button.href);
  const signs: LinkSign[] = [];
  const when = (is: boolean, sign: LinkSign): void => {
    if (is) signs.push(sign);
  };
  const addressesHolders = said.length <= 60 && ACCOUNT_HOLDERS.test(said);
  const says = (said.length <= 40 || addressesHolders) && SIGN_IN.test(said);
  when(says, said.length <= 20 || addressesHolders ? 'saysShortly' : 'saysAtLength');
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
  // A hidden control must be unambiguous.
  when(!button.visible, 'unseen');
  // Account settings link to sign-in options; `Signing in` is the name of that topic.
  when(/\/(settings|preferences|profile|admin|[a-z-]*security)\//i.test(`${button.href}/`), 'settings');
  when(/^(signing|logging) in$/.test(said), 'topic');
  when(button.tag !== 'a' && button.href === '', 'runsScript');
  return signs;
}

/** How pages address existing account holders. */
const ACCOUNT_HOLDERS =
  /^\P{L}*(already|returning|existing|got an account|have an account|do you have an account|bereits|schon|deja|vous avez deja|vous etes deja|ya (tienes|eres|estas|tiene|es)|hai gia|sei gia|gia|ja (tem|e|possui|sou)|heb je al|al (klant|een account)|masz juz|har du redan|allerede|уже)(?!\p{L})/u;
const ACCOUNT = /^(my |mein |mon |mi |il mio )?(account|konto|compte|cuenta|profile|マイページ|我的账户)$/;
const SIGN_IN_ADDRESS =
  /(^| )(login|log in|signin|sign in|sign on|logon|sso|auth|anmelden|connexion|einloggen|session new|sessions new|accedi|entrar|giris)( |$)/;

function addressWords(href: string): string {
  return identifierWords(href.replace(/^https?:\/\//, '').slice(0, 200));
}

/** Absolute URL of a link; null for script links. */
function absolute(href: string, base: string): string | null {
  if (href === '' || href.startsWith('#')) return null;
  const url = URL.canParse(href, base) ? new URL(href, base) : null;
  return url !== null && ['http:', 'https:', 'file:'].includes(url.protocol) ? url.href : null;
}

/** A sign for or against a link to a login. */
export type LinkSign = keyof typeof LINK_WEIGHTS;

type LinkWeights = Readonly<Record<LinkSign, number>>;

/** Fitted by `npm run bench -- fit` to the pages of test/pages with a known sign-in link. Its fit gets no further page right. */
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
