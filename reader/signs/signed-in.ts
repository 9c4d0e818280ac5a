import type { ClickableFacts, FrameSnapshot, TextFacts } from '../facts.ts';
import { anyOf, normalize } from '../text/normalize.ts';
import { textsOf } from '../text/page-text.ts';
import { SIGN_IN, SIGN_OUT } from '../text/words.ts';

/** The account that a signed-in page shows. A property is set only if the page names exactly one value. */
interface NamedAccount {
  readonly email?: string;
  readonly name?: string;
}

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
/** Contact addresses of the site itself. */
const SITE_ADDRESS =
  /^(info|support|contact|kontakt|hello|help|hilfe|service|sales|office|team|mail|admin|webmaster|no-?reply|press|presse|jobs|security|privacy|datenschutz|feedback|billing|shop|orders?)@/i;
const SIGNED_IN_AS =
  /^(?:(?:you are )?(?:signed|logged) in as|(?:sie sind |du bist )?(?:an|ein)gemeldet als|connecté(?:e)? en tant que|sesión iniciada como|accesso effettuato come|ingelogd als|inloggad som)\s*:?\s+(\S.{0,80}?)[.!]?$/iu;
/** A greeting by name, unlike `Welcome back` or `Welcome to Harbour`. */
export const GREETING =
  /^(?:hello|hi|welcome|hallo|bonjour|hola|ciao|olá|hej|cześć),? (?!back|to|zurück|new|guest|there|everyone|and)(\p{Lu}[\p{L}.'-]+(?: \p{Lu}[\p{L}.'-]+)?)[!,.]?$/iu;

/** The account shown in the page's header or navigation, in a greeting, or after `Signed in as`. Empty if none or several are shown. */
export function findNamedAccount(frames: readonly FrameSnapshot[]): NamedAccount {
  const texts = textsOf(frames).filter(({ region }) => region !== 'footer');
  const stated = texts.flatMap(({ text }) => SIGNED_IN_AS.exec(text.trim())?.[1] ?? []);
  const emails = [...stated, ...texts.filter(isInPageChrome).map(({ text }) => text.trim())]
    .filter((text) => EMAIL.test(text) && !SITE_ADDRESS.test(text))
    .map((text) => text.toLowerCase());
  const greeted = texts
    .filter(({ heading, region }) => heading || region === 'header')
    .flatMap(({ text }) => GREETING.exec(text.trim())?.[1] ?? []);
  const names = [...stated.filter((text) => !EMAIL.test(text)), ...greeted].map((text) => text.toLowerCase());
  const [email, name] = [onlyOne(emails), onlyOne(names)];
  return { ...(email === undefined ? {} : { email }), ...(name === undefined ? {} : { name }) };
}

function isInPageChrome({ region }: TextFacts): boolean {
  return region === 'header' || region === 'nav' || region === 'aside';
}

function onlyOne(values: readonly string[]): string | undefined {
  const distinct = new Set(values);
  return distinct.size === 1 ? values[0] : undefined;
}

/** Evidence that the visitor is signed in, in a few words, or null if there is too little. */
export function signedInEvidence(frames: readonly FrameSnapshot[]): string | null {
  const clickables = frames.flatMap(({ facts }) => facts.clickables);
  const signOut = clickables.find(isSignOutControl);
  if (signOut) return `control "${signOut.text || signOut.href}"`;
  const signs = signedInHints(frames);
  return signs.length >= 2 ? signs.join('; ') : null;
}

/** Hints that the visitor is signed in; one alone is no proof. Empty if the page also offers to sign in. */
export function signedInHints(frames: readonly FrameSnapshot[]): string[] {
  const clickables = frames.flatMap(({ facts }) => facts.clickables);
  // A visible sign-in control outweighs every hint.
  const offersSignIn = clickables.some(
    ({ visible, text, ariaLabel }) => visible && text.length <= 30 && SIGN_IN.test(normalize(`${text} | ${ariaLabel}`)),
  );
  if (offersSignIn) return [];
  const shown = clickables.filter(({ visible, region }) => visible && region !== 'footer');
  const menu = shown.find(
    ({ text, ariaLabel, title, classes, id }) =>
      ACCOUNT_MENU.test(normalize(`${ariaLabel} | ${title} | ${text.slice(0, 40)}`)) ||
      /(^|[\s_-])(avatar|user-?menu|account-?menu|profile-?menu)([\s_-]|$)/i.test(`${classes} ${id}`),
  );
  const settings = shown.find(({ href }) => ACCOUNT_SETTINGS.test(href));
  const person = textsOf(frames).find(
    (each) =>
      (isInPageChrome(each) && /^\S+@\S+\.\S+$/.test(each.text)) ||
      ((each.heading || each.region === 'header') && GREETING.test(each.text)),
  );
  return [
    menu && `account menu "${menu.ariaLabel || menu.text}"`,
    settings && `account settings (${settings.href.slice(0, 60)})`,
    person && `"${person.text.slice(0, 40)}"`,
  ].filter((sign) => sign !== undefined);
}

const ACCOUNT_MENU = anyOf(
  'account menu, user menu, profile menu, open user menu, open account menu, your profile, my profile, your account menu, user options, benutzermenu, kontomenu, mein profil, menu utilisateur, mon profil, menu de usuario, mi perfil, menu utente, il mio profilo, menu do usuario, meu perfil, gebruikersmenu, мой профиль, プロフィール, 个人中心, 내 프로필',
);

const ACCOUNT_SETTINGS =
  /\/(settings|preferences|profile|account\/(settings|profile|edit)|my-?account|user\/edit|me)([/?#]|$)/i;

/** True for a control that signs the visitor out. */
export function isSignOutControl(button: ClickableFacts): boolean {
  if (button.inText || button.region === 'footer') return false;
  const said = normalize(`${button.text} | ${button.ariaLabel} | ${button.title}`);
  if (said.length <= 60 && SIGN_OUT.test(said)) return true;
  if (/\/(help|docs?|support|blog|articles?)\//i.test(button.href)) return false;
  return /(^|[/?&=_.-])(log-?_?out|sign-?_?out|log-?_?off|sign-?_?off|abmelden|deconnexion)([/?&=_.#-]|$)/i.test(
    button.href,
  );
}
