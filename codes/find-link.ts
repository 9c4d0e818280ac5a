/** Words of sign-in links, in many languages. */
const SIGN_IN_WORDS =
  /log(?:ging)? ?-?in|sign(?:ing)? ?-?in|magic link|verif|confirm|continue|authenticate|yes,? it|einlogg|anmeld|bestätig|weiter|connexion|connecter|confirmer|iniciar sesi|acceder|ingresar|confirmar|entrar|accedi|accesso|conferma|continua|inlogg|logga in|logg inn|log ind|kirjaudu|zaloguj|potwierd|přihlás|prihlás|bejelentkez|conect|autentific|giriş|oturum|σύνδεσ|войти|войдите|вход|подтверд|увійти|ログイン|サインイン|認証|登录|登入|验证|驗證|로그인|인증|دخول|התחבר|כניסה|लॉग|เข้าสู่ระบบ|đăng nhập|masuk/iu;

/** Words of other links, or of links that deny the sign-in. They take precedence: such a link is never opened. */
const OTHER_WORDS = new RegExp(
  [
    '\\b(?:unsubscri|opt[- ]?out|preferences|notification settings|manage (?:your )?(?:emails?|settings|subscription)|view (?:this )?(?:email )?(?:in|online)|help|support|faq|contact us|privacy|terms|imprint|learn more|read more|download|app store|google play)',
    "\\b(?:(?:was)?n['’]?o?t (?:you|me)\\b|did(?:n['’]?t| not) (?:request|try|ask)|secure (?:your|my) account|report|block|deny|decline|reject|cancel|delete|log ?-?out|sign ?-?out|reset|change (?:your )?(?:password|email)|forgot|invite|newsletter)",
    'abmelde|abbestell|hilfe|datenschutz|impressum|nicht (?:sie|du|ich)|waren sie das nicht|ablehnen|passwort (?:vergessen|ändern|zurück)|désinscri|désabonn|\\baide|confidentialité|pas vous|refuser|mot de passe oublié',
    'cancelar|darse de baja|ayuda|privacidad|no fuiste|rechazar|olvid|annulla|disiscri|aiuto|non sei stat|rifiuta|afmelden|uitschrijven|avregistrera|wypisz|pomoc|odhlás',
    'отписа|помощь|это не вы|сброс|配信停止|ヘルプ|心当たり|退订|帮助|不是您|수신 ?거부|도움말',
  ].join('|'),
  'iu',
);

/** URL parts of sign-in links. */
const SIGN_IN_PATH =
  /magic|passwordless|log[-_]?in|sign[-_]?in|verif|confirm|auth|callback|one[-_]?time|otp|email[-_]?link|session|token|access/i;
const OTHER_PATH =
  /unsub|opt-?out|preference|\bhelp|support|\bfaq|privacy|terms|legal|blog|log-?out|sign-?out|reset|forgot|report|deny|cancel|delete|invite|pixel|\.(?:png|gif|jpe?g|svg|ico|css|pdf)$/i;
/** Generic link texts; the text before the link is used instead. */
const GENERIC_LABEL = /^(?:(?:click )?here|hier|ici|aquí|qui|this link|link|https?:\S+)$/iu;

/** A link in a message with its text. */
interface LabeledLink {
  url: URL;
  label: string;
}

/**
 * The sign-in link in a message: one with a token, recognized by its text or path. Null if there is none or it is ambiguous. Links to
 * other sites are ignored.
 * @param message its text and, if it has any, its HTML.
 * @param isOwn whether a URL belongs to the expected site.
 */
export function findSignInLink(
  message: { text: string; html?: string | undefined },
  isOwn: (link: string) => boolean,
): string | null {
  const links = [...linksInHtml(message.html ?? ''), ...linksInHtml(message.text), ...linksInText(message.text)].filter(
    ({ url }) => isOwn(url.href) && hasToken(url),
  );
  // The text and the HTML of a mail may label the same link differently.
  const others = new Set(links.filter(isOther).map(({ url }) => url.href));
  const signIns = links.filter((link) => !others.has(link.url.href));
  const label = new Set(signIns.filter((link) => SIGN_IN_WORDS.test(link.label)).map(({ url }) => url.href));
  const named = new Set(signIns.filter(({ url }) => SIGN_IN_PATH.test(wordsInUrl(url))).map(({ url }) => url.href));
  const both = [...label].filter((href) => named.has(href));
  const [only, another] = [both, [...label], [...named]].find((found) => found.length > 0) ?? [];
  return another === undefined ? (only ?? null) : null;
}

function isOther({ url, label }: LabeledLink): boolean {
  return OTHER_WORDS.test(label) || OTHER_PATH.test(wordsInUrl(url));
}

/** The path and parameter names of a URL, without tokens, which may contain any word. */
function wordsInUrl({ pathname, searchParams }: URL): string {
  return [...pathname.split('/'), ...searchParams.keys()]
    .filter((part) => part.length < 16 || /^[a-z._-]+$/i.test(part))
    .join('/');
}

/** Anchors, labeled by their own text or their image's, or by the text before them if their own is generic. */
function linksInHtml(html: string): LabeledLink[] {
  return [...html.matchAll(/<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)')[^>]*>([\s\S]*?)<\/a>/gi)].flatMap((match) => {
    const [, double, single, inner = ''] = match;
    const own = `${textOf(inner)} ${/alt\s*=\s*"([^"]*)"/i.exec(inner)?.[1] ?? ''}`.trim();
    const before = textOf(html.slice(Math.max(0, match.index - 400), match.index)).slice(-120);
    return linkOf(decodeEntities(double ?? single ?? ''), GENERIC_LABEL.test(own) ? before : own);
  });
}

/** URLs in a text, labeled by the text before them in their line, else by the line before. */
function linksInText(text: string): LabeledLink[] {
  const withoutMarkup = text.replaceAll(/<a\s[\s\S]*?<\/a>/gi, ' ');
  const lines = withoutMarkup.split('\n').filter((line) => line.trim() !== '');
  return lines.flatMap((line, index) =>
    [...line.matchAll(/https?:\/\/[^\s<>"'）」】]+/gi)].flatMap((match) => {
      const before = line.slice(0, match.index).replaceAll(/https?:\/\/\S+/gi, ' ');
      const words = /\p{L}{2}/u.test(before) ? before : (lines[index - 1] ?? '').replaceAll(/https?:\/\/\S+/gi, ' ');
      return linkOf(match[0].replace(/[.,;:!?)\]}。、]+$/, ''), words);
    }),
  );
}

function linkOf(address: string, label: string): LabeledLink[] {
  const trimmed = address.trim();
  return URL.canParse(trimmed) ? [{ url: new URL(trimmed), label: label.replaceAll(/\s+/g, ' ').trim() }] : [];
}

function textOf(markup: string): string {
  return decodeEntities(markup.replaceAll(/<[^>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function decodeEntities(markup: string): string {
  const character = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '');
  return markup
    .replaceAll(/&#x([0-9a-f]{1,6});/gi, (_all, hex: string) => character(Number.parseInt(hex, 16)))
    .replaceAll(/&#(\d{1,7});/g, (_all, decimal: string) => character(Number(decimal)))
    .replaceAll('&quot;', '"')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&');
}

/** True for a URL with an unguessable part, which every sign-in link has. */
function hasToken({ pathname, searchParams, hash }: URL): boolean {
  const given = [...searchParams].filter(([name]) => !/^utm_|^(?:lang|locale|email|source|ref)$/i.test(name));
  const parts = [...given.map(([, value]) => value), ...pathname.split('/'), ...hash.split(/[#&=/]/)];
  return parts.some((part) => part.length >= 16 || /^(?=.*\d)[\w-]{6,}$/.test(part));
}
