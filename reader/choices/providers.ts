import { identifierWords, normalize } from '../text/normalize.ts';

/** Identity providers, by words in the text, URL and images of their buttons. */
const PROVIDERS: readonly (readonly [string, RegExp])[] = [
  ['google', /(?<![a-z])google(?![a-z])|gsi-material|g_id_signin/],
  ['microsoft', /(?<![a-z])(microsoft|azure|azuread|aad|entra|office 365|live id|windows live)(?![a-z])/],
  ['apple', /(?<![a-z])apple(?:id)?(?![a-z])/],
  ['github', /(?<![a-z])github(?![a-z])/],
  ['gitlab', /(?<![a-z])gitlab(?![a-z])/],
  ['bitbucket', /(?<![a-z])(bitbucket|atlassian)(?![a-z])/],
  ['facebook', /(?<![a-z])(facebook|fb)(?![a-z])/],
  ['linkedin', /(?<![a-z])linked ?in(?![a-z])/],
  ['okta', /(?<![a-z])okta(?![a-z])/],
  ['auth0', /(?<![a-z])auth0(?![a-z])/],
  ['onelogin', /(?<![a-z])onelogin(?![a-z])/],
  ['ping', /(?<![a-z])ping ?(one|identity|federate)(?![a-z])/],
  ['keycloak', /(?<![a-z])keycloak(?![a-z])/],
  ['amazon', /(?<![a-z])(amazon|aws)(?![a-z])/],
  ['twitter', /(?<![a-z])twitter(?![a-z])|(?:with|via|mit|avec|con) x(?![a-z])|^x$/],
  ['slack', /(?<![a-z])slack(?![a-z])/],
  ['discord', /(?<![a-z])discord(?![a-z])/],
  ['paypal', /(?<![a-z])paypal(?![a-z])/],
  ['yahoo', /(?<![a-z])yahoo(?![a-z])/],
  ['salesforce', /(?<![a-z])salesforce(?![a-z])/],
  ['intuit', /(?<![a-z])intuit(?![a-z])/],
  ['steam', /(?<![a-z])steam(?![a-z])/],
  ['twitch', /(?<![a-z])twitch(?![a-z])/],
  ['spotify', /(?<![a-z])spotify(?![a-z])/],
  ['dropbox', /(?<![a-z])dropbox(?![a-z])/],
  ['zoom', /(?<![a-z])zoom(?![a-z])/],
  [
    'line',
    /(?<![a-z])line(?: account|アカウント| ?login|で| ?登入| ?登录)|(?:with|via|mit|avec|con|com|使用) ?line(?![a-z])|^line$|access line me/,
  ],
  ['kakao', /(?<![a-z])kakao|카카오/],
  ['naver', /(?<![a-z])naver|네이버/],
  ['wechat', /(?<![a-z])(wechat|weixin)(?![a-z])|微信/],
  ['qq', /(?<![a-z])qq(?![a-z])/],
  ['alipay', /(?<![a-z])alipay(?![a-z])|支付宝/],
  ['weibo', /(?<![a-z])weibo(?![a-z])|微博/],
  ['vk', /(?<![a-z])(vk|vkontakte)(?![a-z])|вконтакте/],
  ['yandex', /(?<![a-z])(yandex|ya id)(?![a-z])|яндекс/],
];

/** Sign-in through an organization, whatever its identity provider. */
const GENERIC: readonly (readonly [string, RegExp])[] = [
  ['saml', /(?<![a-z])saml2?(?![a-z])/],
  ['oidc', /(?<![a-z])(oidc|openid(?: connect)?|open id)(?![a-z])/],
  [
    'sso',
    /(?<![a-z])(sso|single sign[ -]?on|enterprise sign[ -]?in|company (?:account|sso)|work account|corporate (?:account|login))(?![a-z])|シングルサインオン|单点登录/,
  ],
  ['ldap', /(?<![a-z])ldap(?![a-z])/],
];

/** The provider named in a text, specific ones before generic ones, or undefined. */
export function providerByName(words: string): string | undefined {
  return (
    PROVIDERS.find(([, pattern]) => pattern.test(words))?.[0] ?? GENERIC.find(([, pattern]) => pattern.test(words))?.[0]
  );
}

/** The provider named in an authorization URL, or undefined. */
export function providerByUrl(href: string): string | undefined {
  if (!href) return undefined;
  const words = identifierWords(href);
  const authorizes =
    /(?<![a-z])(oauth2?|oidc|openid|sso|saml2?|idp|omniauth|social|broker|connect|federat\w*|externallogin|external login|third party|authorize|login|auth|signin)(?![a-z])/;
  return authorizes.test(words) ? providerByName(words) : undefined;
}

/** An id for an unknown provider: `Contoso ID` becomes `contoso-id`. */
export function providerSlug(name: string): string {
  return normalize(name)
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
}
