import type { ClickableFacts } from './facts.ts';
import { identifierWords, normalize } from './normalize.ts';
import { SIGN_IN, SIGN_UP } from './words.ts';
import { addressedProvider, namedProvider, providerSlug } from './providers.ts';

const WITH =
  /(?<![a-z])(?:with|via|using|through|mit|uber|avec|via|con|com|met|med|ile|przez|pomoca|c помощью)(?![a-z])|через|с помощью|使用|通过|透過|で(?:ログイン|続行|サインイン)|로 로그인|로 계속/;
const ENTER =
  /(?<![a-z])(?:sign|log|continue|login|signin|connect|anmelden|einloggen|weiter|fortfahren|continuer|connexion|connecter|identifier|continuar|iniciar|entrar|acceder|ingresar|accedi|continua|inloggen|doorgaan|logga|fortsatt|zaloguj|kontynuuj|giris|devam)(?![a-z])|войти|продолжить|ログイン|サインイン|続行|登录|登入|继续|로그인|계속/;
const NOT_SSO =
  /follow|share|like us|store|google play|download|get it on|terms|privacy|help|support|learn more|forgot|password|passkey|status|twitter\.com\/(?!oauth)|subscribe/;
const AUTH_WORDS =
  /(?<![a-z])(sso|oauth2?|oidc|openid|saml2?|social|idp|provider|omniauth|federated|third party|external|identity|zocial|auth)(?![a-z])/;

/** The identity provider a button leads to, with the name to show; undefined when the button does something else. */
export function ssoOf(button: ClickableFacts): { provider: string; label: string } | undefined {
  if (button.type === 'radio' || button.region === 'consent') return undefined;
  const said = normalize(`${button.text} ${button.ariaLabel} ${button.title}`);
  if (NOT_SSO.test(said) || isProfileLink(button.href)) return undefined;
  if (SIGN_UP.test(said) && !SIGN_IN.test(said)) return undefined;
  const label = button.text || button.ariaLabel || button.title;
  const named = namedProvider(said);
  const hints = identifierWords(button.id, button.name, button.classes, button.extra, button.imageText);
  const attributed = namedProvider(hints) ?? addressedProvider(button.href);

  if (named && ENTER.test(said) && (WITH.test(said) || isGeneric(namedProvider(normalize(label)) ?? '')))
    return { provider: known(named, attributed), label };
  // A bare name or picture of a provider is a button to it when its address or its classes say so.
  const bare = said.length <= 30;
  if (named && bare && (AUTH_WORDS.test(hints) || leadsToAuth(button) || isOnlyName(said, named))) {
    return { provider: known(named, attributed), label };
  }
  const plainSignIn = ENTER.test(said) && !WITH.test(said);
  if (!named && attributed && bare && !plainSignIn && (AUTH_WORDS.test(hints) || leadsToAuth(button))) {
    return { provider: attributed, label: label || attributed };
  }
  return unknownProvider(button, said, hints, label);
}

/** True for buttons that hand over to an identity provider. */
export function isProviderButton(button: ClickableFacts): boolean {
  return ssoOf(button) !== undefined;
}

/** `Log in with Contoso ID`: a provider that no list knows, recognized by its wording and its address. */
function unknownProvider(
  button: ClickableFacts,
  said: string,
  hints: string,
  label: string,
): { provider: string; label: string } | undefined {
  const name = /(?:sign ?in|log ?in|login|continue|anmelden|connect) (?:with|using|via|mit) (?:your )?(.{2,40})$/.exec(
    normalize(button.text),
  )?.[1];
  const own =
    /password|e-?mail|phone|username|user name|code|passkey|another|different|qr|link|device|key|number|credentials|face|fingerprint|biometric|passwort|mobile|account$/;
  if (!name || own.test(name)) return undefined;
  return leadsToAuth(button) || AUTH_WORDS.test(hints) || button.tag === 'button' || button.role === 'button'
    ? { provider: providerSlug(name.replace(/ (account|login|id)$/, '')), label }
    : undefined;
}

function known(named: string, attributed: string | undefined): string {
  return isGeneric(named) && attributed !== undefined && !isGeneric(attributed) ? attributed : named;
}

function isGeneric(provider: string): boolean {
  return ['saml', 'oidc', 'sso', 'ldap'].includes(provider);
}

function isOnlyName(said: string, provider: string): boolean {
  return said.split(' ').every((word) => word === provider) && provider !== 'line';
}

function leadsToAuth(button: ClickableFacts): boolean {
  return /oauth|openid|oidc|saml|\/sso|\/auth\/|\/login\/|social|omniauth|\/connect\/|broker|idp|external|accounts\.google|login\.microsoft|appleid\.apple/i.test(
    button.href,
  );
}

/** Footers link to the site's own pages on social networks. */
function isProfileLink(href: string): boolean {
  const match =
    /^https?:\/\/(?:[a-z-]+\.)?(facebook|twitter|x|linkedin|github|instagram|youtube|slack|discord)\.(?:com|gg)\/(.*)$/i.exec(
      href,
    );
  return match !== null && !/oauth|auth|login|dialog|authorize|signin/i.test(match[2] ?? '');
}
