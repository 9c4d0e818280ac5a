import { providerByName, providerByUrl, providerSlug } from './providers.ts';
import type { ClickableFacts, FrameFacts } from '../facts.ts';
import { navigatesAway } from '../form/buttons.ts';
import { identifierWords, normalize } from '../text/normalize.ts';
import { titleAndHeadings } from '../text/page-text.ts';
import { CODE, CONTINUE, EMAIL, FORGOT, PASSWORD, PHONE, SIGN_IN, SIGN_UP, USER } from '../text/words.ts';

const WITH =
  /(?<![a-z])(?:with|via|using|through|mit|uber|avec|via|con|com|met|med|ile|przez|pomoca|c помощью)(?![a-z])|через|с помощью|使用|通过|透過|で(?:ログイン|続行|サインイン)|로 로그인|로 계속/;
const SIGN_IN_VERB =
  /(?<![a-z])(?:sign|log|continue|login|signin|connect|anmelden|einloggen|weiter|fortfahren|continuer|connexion|connecter|identifier|continuar|iniciar|entrar|acceder|ingresar|accedi|continua|inloggen|doorgaan|logga|fortsatt|zaloguj|kontynuuj|giris|devam)(?![a-z])|войти|продолжить|ログイン|サインイン|続行|登录|登入|继续|로그인|계속/;
const NOT_SSO =
  /follow|share|like us|store|google play|download|get it on|terms|privacy|help|support|learn more|forgot|password|passkey|status|twitter\.com\/(?!oauth)|subscribe|(?<![a-z])(pay|checkout|buy|maps|analytics|translate|tag manager)(?![a-z])|teilen|partager|compartir|condividi/;
const AUTH_WORDS =
  /(?<![a-z])(sso|oauth2?|oidc|openid|saml2?|social|idp|provider|omniauth|federated|third party|external|identity|zocial|auth|login|signin)(?![a-z])/;
/** URLs that start an authorization. */
const AUTHORIZES =
  /oauth|openid|oidc|saml|\/sso|\/auth\/|\/login\/|\/signin[-/]|social|omniauth|\/connect\/|broker|idp|external|client_id=|\/authorize|accounts\.google\.com|login\.microsoft|appleid\.apple/i;
/** Paths of content pages. */
const CONTENT_PATH =
  /\/(docs?|help|support|blog|news|articles?|wiki|guides?|brands?|categor(y|ies)|c|products?|shop|collections?|integrations?|apps?|marketplace|settings|about|legal)(\/|$)/i;

/** A button of an identity provider. */
interface ProviderButton {
  readonly provider: string;
  readonly label: string;
}

/**
 * The identity provider that a button signs in with, or undefined. A provider's name or address alone is no proof: shops sell
 * what providers make, and everybody links to them. It takes a sign-in verb, an authorization URL or a login next to it as well.
 * @param besideLogin whether the button is next to a login, or on a page about signing in that has no fields; undefined if unknown.
 */
export function providerOf(button: ClickableFacts, besideLogin?: boolean): ProviderButton | undefined {
  if (button.type === 'radio' || button.region === 'consent') return undefined;
  const said = normalize(`${button.text} ${button.ariaLabel} ${button.title}`);
  if (NOT_SSO.test(said) || isProfileLink(button.href)) return undefined;
  if (SIGN_UP.test(said) && !SIGN_IN.test(said)) return undefined;
  const label = button.text || button.ariaLabel || button.title;
  const named = providerByName(said);
  const hints = identifierWords(button.id, button.name, button.classes, button.extra, button.imageText);
  const attributed = providerByName(hints) ?? providerByUrl(button.href);
  const path = pathOf(button.href);
  const authorizes = AUTHORIZES.test(button.href) && !CONTENT_PATH.test(path);
  const provider = named === undefined ? undefined : preferSpecific(named, attributed);

  if (
    provider !== undefined &&
    SIGN_IN_VERB.test(said) &&
    (WITH.test(said) || isGeneric(providerByName(normalize(label)) ?? ''))
  )
    return { provider, label };
  const isLink = button.tag === 'a' && navigatesAway(button);
  if (provider !== undefined && SINGLE_SIGN_ON.test(said) && isGeneric(provider) && besideLogin !== undefined)
    return besideLogin && (authorizes || !isLink) ? { provider, label } : undefined;
  if (button.region === 'footer') return undefined;
  const isShort = said.length <= 30;
  const isPlain = !isLink && button.region !== 'nav' && button.region !== 'header';
  const beside = besideLogin === true && button.region !== 'nav';
  if (provider !== undefined && isShort) {
    if (authorizes && (besideLogin === undefined || beside || isNamedForAuth(button.href))) return { provider, label };
    if (isPlain && (beside || (besideLogin === undefined && AUTH_WORDS.test(hints)))) return { provider, label };
  }
  // If only a class, an image or a URL names the provider, the button must be next to a login.
  const isSilent = said === '' || (isShort && !SIGN_IN.test(said) && !SIGN_IN_VERB.test(said));
  if (named === undefined && attributed !== undefined && isSilent && (besideLogin === undefined || beside)) {
    if (authorizes || (isPlain && AUTH_WORDS.test(hints)) || (isPlain && said === '' && beside))
      return { provider: attributed, label: label || attributed };
  }
  if (isShort && beside) {
    // A link within the site that its markup calls a provider button.
    const isCalled = button.region !== 'header' && isInternalLink(button) && PROVIDER_MARKUP.test(hints);
    if (provider !== undefined && isCalled) return { provider, label };
    const isBrokered = BROKER_PATH.test(path) && !CONTENT_PATH.test(path);
    if (label !== '' && isBrokered && !FORGOT.test(said) && !CONTINUE.test(said))
      return { provider: attributed ?? providerSlug(label), label };
  }
  return unknownProvider(button, authorizes || AUTH_WORDS.test(hints), label, attributed);
}

/** True for a button that is recognizable as an identity provider's without its surroundings. */
export function isProviderButton(button: ClickableFacts): boolean {
  return providerOf(button) !== undefined;
}

/** Paths of an identity broker that contain the provider's name. */
const BROKER_PATH =
  /\/(broker|omniauth|oauth2?|saml2?|oidc|openid[_-]?connect|shibboleth|federation|external-?login)\/(?!authorize|token|login-actions|password|forgot|register|logout)[\w.-]+(\/(login|start|begin|init|initiate|redirect))?\/?$/i;
/** Markup words of provider buttons that links to social networks do not have. */
const PROVIDER_MARKUP =
  /(?<![a-z])(sso|oauth2?|oidc|openid|saml2?|idp|provider|omniauth|federated|auth|login|signin|connect)(?![a-z])/;

function isInternalLink({ href }: ClickableFacts): boolean {
  return !/^([a-z]+:)?\/\//i.test(href) && !CONTENT_PATH.test(pathOf(href));
}

const SINGLE_SIGN_ON = /single sign[ -]?on|(?<![a-z])sso(?![a-z])/;

/** True for a URL with an authorization word followed by a provider. */
function isNamedForAuth(href: string): boolean {
  return /(auth|oauth2?|omniauth|social|external|connect|login|idp|broker)[/=_-]+[a-z_-]*(google|facebook|apple|github|gitlab|microsoft|azure|linkedin|twitter|okta|saml|oidc|openid)|client_id=/i.test(
    href,
  );
}

/** Maximum distance of a button from the fields of its login, in pixels. */
const NEAR = 420;
/** The same in document order. */
const NEAR_ORDER = 80;

/** True for a button next to the fields of a login. */
export function isNearLogin(
  button: ClickableFacts,
  login: { readonly first: number; readonly last: number; readonly box: ClickableFacts['box'] },
): boolean {
  const { box, order } = button;
  const inOrder = order > login.first - NEAR_ORDER && order < login.last + NEAR_ORDER;
  const near = box.y + box.height > login.box.y - NEAR && box.y < login.box.y + login.box.height + NEAR;
  return inOrder && near;
}

/** True for a page that is about signing in, by its title, headings or path. */
export function isAboutSigningIn(facts: FrameFacts): boolean {
  return SIGN_IN.test(titleAndHeadings(facts)) || SIGN_IN.test(identifierWords(pathOf(facts.url)));
}

/** `Log in with Contoso ID`: the name follows the preposition or precedes the verb. */
const UNKNOWN_PROVIDER = [
  /(?:sign ?in|log ?in|login|continue|connect|anmelden|einloggen|weiter|inloggen|doorgaan|logga in|log ?ind|logg ?inn|kirjaudu|connecter|connexion|connectez-vous|identifier|continuer|iniciar sesion|acceder|accede|entrar|ingresar|continuar|entra|accedi|continua|zaloguj sie|prihlasit se) (?:with|using|via|mit|met|med|avec|con|com|przez|pres|s) (?:your |ihrer? |uw |je |votre |tu |su |il tuo )?(.{2,40})$/,
  /^(?:mit|avec|con|com|使用|通过) ?(.{2,40}?) ?(?:anmelden|einloggen|登录|登入|登陆)$/,
  /^(.{2,40}?) ?(?:ile (?:giris|devam|baglan)\S*(?: yap)?|でログイン|アカウントでログイン|(?:으로|로) 로그인)$/,
  /(?:войти|увійти) (?:с помощью|через|за допомогою) (.{2,40})$/,
];
/** Sign-in methods of the site itself. */
const OWN_METHOD =
  /another|different|(?<![a-z])qr|link|device|(?<![a-z])key|number|credentials|face|fingerprint|biometric|account$|credenzial|credencial|identifiants|zugangsdaten|inloggegevens|gast|guest|pin$|подпис|куар/;

/** A provider that is not listed, recognized by the wording and, for links, by the URL. */
function unknownProvider(
  button: ClickableFacts,
  authorizes: boolean,
  label: string,
  attributed: string | undefined,
): ProviderButton | undefined {
  const said = normalize(button.text);
  const name = UNKNOWN_PROVIDER.map((wording) => wording.exec(said)?.[1]).find((found) => found !== undefined);
  if (!name || OWN_METHOD.test(name) || [PASSWORD, EMAIL, PHONE, USER, CODE].some((words) => words.test(name)))
    return undefined;
  const address = button.href.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  const isNamed = name.split(' ').some((word) => word.length >= 4 && address.includes(word));
  if (!authorizes && !isNamed && button.tag !== 'button' && button.role !== 'button') return undefined;
  return {
    provider: attributed ?? providerSlug(name.replace(/ (account|login|id)$/, '')),
    label,
  };
}

function preferSpecific(named: string, attributed: string | undefined): string {
  return isGeneric(named) && attributed !== undefined && !isGeneric(attributed) ? attributed : named;
}

function isGeneric(provider: string): boolean {
  return ['saml', 'oidc', 'sso', 'ldap'].includes(provider);
}

function pathOf(href: string): string {
  return (href.replace(/^[a-z]+:\/\/[^/]+/i, '').split(/[?#]/)[0] ?? '') || '/';
}

/** True for a link to a profile on a social network, as footers have them. */
function isProfileLink(href: string): boolean {
  const match =
    /^https?:\/\/(?:[a-z-]+\.)?(facebook|twitter|x|linkedin|github|instagram|youtube|slack|discord)\.(?:com|gg)\/(.*)$/i.exec(
      href,
    );
  return match !== null && !/oauth|auth|dialog|authorize|^login/i.test(match[2] ?? '');
}
