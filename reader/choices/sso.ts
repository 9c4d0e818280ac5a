import { providerByName, providerByUrl, providerSlug } from './providers.ts';
import type { ClickableFacts, FrameFacts } from '../facts.ts';
import { identifierWords, normalize } from '../text/normalize.ts';
import { CODE, CONTINUE, EMAIL, FORGOT, PASSWORD, PHONE, SIGN_IN, SIGN_UP, USER } from '../text/words.ts';

const WITH =
  /(?<![a-z])(?:with|via|using|through|mit|uber|avec|via|con|com|met|med|ile|przez|pomoca|c помощью)(?![a-z])|через|с помощью|使用|通过|透過|で(?:ログイン|続行|サインイン)|로 로그인|로 계속/;
const ENTER =
  /(?<![a-z])(?:sign|log|continue|login|signin|connect|anmelden|einloggen|weiter|fortfahren|continuer|connexion|connecter|identifier|continuar|iniciar|entrar|acceder|ingresar|accedi|continua|inloggen|doorgaan|logga|fortsatt|zaloguj|kontynuuj|giris|devam)(?![a-z])|войти|продолжить|ログイン|サインイン|続行|登录|登入|继续|로그인|계속/;
const NOT_SSO =
  /follow|share|like us|store|google play|download|get it on|terms|privacy|help|support|learn more|forgot|password|passkey|status|twitter\.com\/(?!oauth)|subscribe|(?<![a-z])(pay|checkout|buy|maps|analytics|translate|tag manager)(?![a-z])|teilen|partager|compartir|condividi/;
const AUTH_WORDS =
  /(?<![a-z])(sso|oauth2?|oidc|openid|saml2?|social|idp|provider|omniauth|federated|third party|external|identity|zocial|auth|login|signin)(?![a-z])/;
/** Addresses that begin an authorization, by what they are made for. */
const AUTHORIZES =
  /oauth|openid|oidc|saml|\/sso|\/auth\/|\/login\/|\/signin[-/]|social|omniauth|\/connect\/|broker|idp|external|client_id=|\/authorize|accounts\.google\.com|login\.microsoft|appleid\.apple/i;
/** Addresses of pages about something: never the way in. */
const TELLS =
  /\/(docs?|help|support|blog|news|articles?|wiki|guides?|brands?|categor(y|ies)|c|products?|shop|collections?|integrations?|apps?|marketplace|settings|about|legal)(\/|$)/i;

/** What the page around a button says of it. */
export interface ProviderContext {
  /** Stands beside a login, or on a page that is about signing in and has no fields. */
  readonly besideLogin: boolean;
}

/** A button that hands over to an identity provider. */
export interface ProviderButton {
  readonly provider: string;
  readonly label: string;
  readonly why: string;
}

/**
 * The identity provider a button leads to; undefined when the button does something else. A provider's name or address
 * alone is no proof: shops sell what providers make, and everybody links to them. A verb, an address that begins an
 * authorization, or a login right beside it must join it.
 */
export function providerOf(button: ClickableFacts, context?: ProviderContext): ProviderButton | undefined {
  if (button.type === 'radio' || button.region === 'consent') return undefined;
  const said = normalize(`${button.text} ${button.ariaLabel} ${button.title}`);
  if (NOT_SSO.test(said) || isProfileLink(button.href)) return undefined;
  if (SIGN_UP.test(said) && !SIGN_IN.test(said)) return undefined;
  const label = button.text || button.ariaLabel || button.title;
  const named = providerByName(said);
  const hints = identifierWords(button.id, button.name, button.classes, button.extra, button.imageText);
  const attributed = providerByName(hints) ?? providerByUrl(button.href);
  const authorizes = AUTHORIZES.test(button.href) && !TELLS.test(pathOf(button.href));
  const provider = named === undefined ? undefined : known(named, attributed);

  if (
    provider !== undefined &&
    ENTER.test(said) &&
    (WITH.test(said) || isGeneric(providerByName(normalize(label)) ?? ''))
  )
    return { provider, label, why: 'says to sign in with it' };
  if (provider !== undefined && SIGN_ON.test(said) && isGeneric(provider) && context !== undefined)
    return context.besideLogin && (authorizes || !navigatesAway(button))
      ? { provider, label, why: 'named beside a login' }
      : undefined;
  if (button.region === 'footer') return undefined;
  const bare = said.length <= 30;
  const plain = !navigatesAway(button) && button.region !== 'nav' && button.region !== 'header';
  const beside = context?.besideLogin === true && button.region !== 'nav';
  if (provider !== undefined && bare) {
    if (authorizes && (context === undefined || beside || isNamedForAuth(button.href)))
      return { provider, label, why: 'name and authorization address' };
    if (plain && (beside || (context === undefined && AUTH_WORDS.test(hints))))
      return { provider, label, why: 'name beside a login' };
  }
  // Only a class, a picture or an address tells: a login must stand beside it.
  const silent = said === '' || (bare && !SIGN_IN.test(said) && !ENTER.test(said));
  if (named === undefined && attributed !== undefined && silent && (context === undefined || beside)) {
    if (authorizes || (plain && AUTH_WORDS.test(hints)) || (plain && said === '' && beside))
      return { provider: attributed, label: label || attributed, why: 'picture or address beside a login' };
  }
  // A link of the site's own whose author calls it a button of a provider.
  if (provider !== undefined && bare && beside && button.region !== 'header' && isOwnLink(button) && CALLED.test(hints))
    return { provider, label, why: 'name beside a login, called a provider' };
  if (
    bare &&
    beside &&
    label !== '' &&
    BROKERS.test(pathOf(button.href)) &&
    !TELLS.test(pathOf(button.href)) &&
    !FORGOT.test(said) &&
    !CONTINUE.test(said)
  )
    return { provider: attributed ?? providerSlug(label), label, why: 'address of a provider beside a login' };
  return unknownProvider(button, authorizes || AUTH_WORDS.test(hints), label, attributed);
}

/** True for buttons that hand over to an identity provider, as far as they tell by themselves. */
export function isProviderButton(button: ClickableFacts): boolean {
  return providerOf(button) !== undefined;
}

/** Addresses that hand over to a provider whose name stands in them. */
const BROKERS =
  /\/(broker|omniauth|oauth2?|saml2?|oidc|openid[_-]?connect|shibboleth|federation|external-?login)\/(?!authorize|token|login-actions|password|forgot|register|logout)[\w.-]+(\/(login|start|begin|init|initiate|redirect))?\/?$/i;
/** What authors call buttons of providers, and never links to a network's own pages. */
const CALLED =
  /(?<![a-z])(sso|oauth2?|oidc|openid|saml2?|idp|provider|omniauth|federated|auth|login|signin|connect)(?![a-z])/;

function isOwnLink({ href }: ClickableFacts): boolean {
  return !/^([a-z]+:)?\/\//i.test(href) && !TELLS.test(pathOf(href));
}

const SIGN_ON = /single sign[ -]?on|(?<![a-z])sso(?![a-z])/;

/** An address that has both: the word of an authorization and the provider after it. */
function isNamedForAuth(href: string): boolean {
  return /(auth|oauth2?|omniauth|social|external|connect|login|idp|broker)[/=_-]+[a-z_-]*(google|facebook|apple|github|gitlab|microsoft|azure|linkedin|twitter|okta|saml|oidc|openid)|client_id=/i.test(
    href,
  );
}

/** Pixels around the fields of a login within which a button belongs to it. */
const BESIDE = 420;
/** The same in elements of the page's order. */
const BESIDE_ORDER = 80;

/** True for a button right beside the fields of a login. */
export function isNearLogin(
  button: ClickableFacts,
  login: { readonly first: number; readonly last: number; readonly box: ClickableFacts['box'] },
): boolean {
  const { box, order } = button;
  const inOrder = order > login.first - BESIDE_ORDER && order < login.last + BESIDE_ORDER;
  const near = box.y + box.height > login.box.y - BESIDE && box.y < login.box.y + login.box.height + BESIDE;
  return inOrder && near;
}

/** True for a page without fields that is about signing in: its title, its headings or its address say so. */
export function isAboutSigningIn({ title, texts, url }: FrameFacts): boolean {
  const headings = texts.filter(({ heading, within }) => heading && within === 'none').map(({ text }) => text);
  const said = normalize([title, ...headings].join(' | '));
  return SIGN_IN.test(said) || SIGN_IN.test(identifierWords(pathOf(url)));
}

/** `Log in with Contoso ID`, in the languages whose verbs we know: the name stands behind the preposition, or before the verb. */
const UNKNOWN = [
  /(?:sign ?in|log ?in|login|continue|connect|anmelden|einloggen|weiter|inloggen|doorgaan|logga in|log ?ind|logg ?inn|kirjaudu|connecter|connexion|connectez-vous|identifier|continuer|iniciar sesion|acceder|accede|entrar|ingresar|continuar|entra|accedi|continua|zaloguj sie|prihlasit se) (?:with|using|via|mit|met|med|avec|con|com|przez|pres|s) (?:your |ihrer? |uw |je |votre |tu |su |il tuo )?(.{2,40})$/,
  /^(?:mit|avec|con|com|使用|通过) ?(.{2,40}?) ?(?:anmelden|einloggen|登录|登入|登陆)$/,
  /^(.{2,40}?) ?(?:ile (?:giris|devam|baglan)\S*(?: yap)?|でログイン|アカウントでログイン|(?:으로|로) 로그인)$/,
  /(?:войти|увійти) (?:с помощью|через|за допомогою) (.{2,40})$/,
];
/** Ways of the site's own, which are no provider's. */
const OWN =
  /another|different|(?<![a-z])qr|link|device|(?<![a-z])key|number|credentials|face|fingerprint|biometric|account$|credenzial|credencial|identifiants|zugangsdaten|inloggegevens|gast|guest|pin$|подпис|куар/;

/** A provider that no list knows, recognized by its wording, and by its address where it is a link. */
function unknownProvider(
  button: ClickableFacts,
  authorizes: boolean,
  label: string,
  attributed: string | undefined,
): ProviderButton | undefined {
  const said = normalize(button.text);
  const name = UNKNOWN.map((wording) => wording.exec(said)?.[1]).find((found) => found !== undefined);
  if (!name || OWN.test(name) || [PASSWORD, EMAIL, PHONE, USER, CODE].some((words) => words.test(name)))
    return undefined;
  const address = button.href.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  const isNamed = name.split(' ').some((word) => word.length >= 4 && address.includes(word));
  if (!authorizes && !isNamed && button.tag !== 'button' && button.role !== 'button') return undefined;
  return {
    provider: attributed ?? providerSlug(name.replace(/ (account|login|id)$/, '')),
    label,
    why: 'says to sign in with it',
  };
}

function known(named: string, attributed: string | undefined): string {
  return isGeneric(named) && attributed !== undefined && !isGeneric(attributed) ? attributed : named;
}

function isGeneric(provider: string): boolean {
  return ['saml', 'oidc', 'sso', 'ldap'].includes(provider);
}

function navigatesAway({ tag, href }: ClickableFacts): boolean {
  return tag === 'a' && href !== '' && !href.startsWith('#') && !href.toLowerCase().startsWith('javascript:');
}

function pathOf(href: string): string {
  return (href.replace(/^[a-z]+:\/\/[^/]+/i, '').split(/[?#]/)[0] ?? '') || '/';
}

/** Footers link to the site's own pages on social networks. */
function isProfileLink(href: string): boolean {
  const match =
    /^https?:\/\/(?:[a-z-]+\.)?(facebook|twitter|x|linkedin|github|instagram|youtube|slack|discord)\.(?:com|gg)\/(.*)$/i.exec(
      href,
    );
  return match !== null && !/oauth|auth|dialog|authorize|^login/i.test(match[2] ?? '');
}
