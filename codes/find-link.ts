/** Words on or before a link that signs in, in the languages of messages that people get. */
const SIGN_IN_WORDS =
  /log(?:ging)? ?-?in|sign(?:ing)? ?-?in|magic link|verif|confirm|continue|authenticate|yes,? it|einlogg|anmeld|bestätig|weiter|connexion|connecter|confirmer|iniciar sesi|acceder|ingresar|confirmar|entrar|accedi|accesso|conferma|continua|inlogg|logga in|logg inn|log ind|kirjaudu|zaloguj|potwierd|přihlás|prihlás|bejelentkez|conect|autentific|giriş|oturum|σύνδεσ|войти|войдите|вход|подтверд|увійти|ログイン|サインイン|認証|登录|登入|验证|驗證|로그인|인증|دخول|התחבר|כניסה|लॉग|เข้าสู่ระบบ|đăng nhập|masuk/iu;

/** Words of links that do something else, or the opposite. They win: such a link is never opened. */
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

/** Parts of an address that say what it does. */
const SIGN_IN_PATH =
  /magic|passwordless|log[-_]?in|sign[-_]?in|verif|confirm|auth|callback|one[-_]?time|otp|email[-_]?link|session|token|access/i;
const OTHER_PATH =
  /unsub|opt-?out|preference|\bhelp|support|\bfaq|privacy|terms|legal|blog|log-?out|sign-?out|reset|forgot|report|deny|cancel|delete|invite|pixel|\.(?:png|gif|jpe?g|svg|ico|css|pdf)$/i;
/** Words of a link that say nothing: those before it do. */
const SAYS_NOTHING = /^(?:(?:click )?here|hier|ici|aquí|qui|this link|link|https?:\S+)$/iu;

/** A link in a message, and what is said of it. */
interface SaidLink {
  url: URL;
  said: string;
}

/**
 * The link in a message that signs in: one that carries a secret, of which its words or its path say so. Null where there is none,
 * or two different ones could be meant. What is not the site's own is not looked at, so that nobody else's link is ever followed.
 * Pure.
 * @param message its text, and its markup where it has any; either alone will do.
 * @param isOwn whether an address leads to the site that the message is for.
 */
export function findSignInLink(
  message: { text: string; html?: string | undefined },
  isOwn: (link: string) => boolean,
): string | null {
  const links = [...inMarkup(message.html ?? ''), ...inMarkup(message.text), ...inText(message.text)].filter(
    ({ url }) => isOwn(url.href) && holdsSecret(url),
  );
  // What the mail says of a link in one of its two forms holds for both.
  const others = new Set(links.filter(isOther).map(({ url }) => url.href));
  const signIns = links.filter((link) => !others.has(link.url.href));
  const said = new Set(signIns.filter((link) => SIGN_IN_WORDS.test(link.said)).map(({ url }) => url.href));
  const named = new Set(signIns.filter(({ url }) => SIGN_IN_PATH.test(wordsOf(url))).map(({ url }) => url.href));
  const both = [...said].filter((href) => named.has(href));
  const [only, another] = [both, [...said], [...named]].find((found) => found.length > 0) ?? [];
  return another === undefined ? (only ?? null) : null;
}

function isOther({ url, said }: SaidLink): boolean {
  return OTHER_WORDS.test(said) || OTHER_PATH.test(wordsOf(url));
}

/** The path of an address and the names of its values, without what is a secret and may spell anything. */
function wordsOf({ pathname, searchParams }: URL): string {
  return [...pathname.split('/'), ...searchParams.keys()]
    .filter((part) => part.length < 16 || /^[a-z._-]+$/i.test(part))
    .join('/');
}

/** Anchors of markup, under their own words or their picture's; under those before them where they say only `here`. */
function inMarkup(html: string): SaidLink[] {
  return [...html.matchAll(/<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)')[^>]*>([\s\S]*?)<\/a>/gi)].flatMap((match) => {
    const [, double, single, inner = ''] = match;
    const own = `${plain(inner)} ${/alt\s*=\s*"([^"]*)"/i.exec(inner)?.[1] ?? ''}`.trim();
    const before = plain(html.slice(Math.max(0, match.index - 400), match.index)).slice(-120);
    return linkOf(entities(double ?? single ?? ''), SAYS_NOTHING.test(own) ? before : own);
  });
}

/** Addresses in a text, under the words of their line, or of the line before where they stand alone. */
function inText(text: string): SaidLink[] {
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

function linkOf(address: string, said: string): SaidLink[] {
  const trimmed = address.trim();
  return URL.canParse(trimmed) ? [{ url: new URL(trimmed), said: said.replaceAll(/\s+/g, ' ').trim() }] : [];
}

/** Text of markup. */
function plain(markup: string): string {
  return entities(markup.replaceAll(/<[^>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function entities(markup: string): string {
  const character = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '');
  return markup
    .replaceAll(/&#x([0-9a-f]{1,6});/gi, (_all, hex: string) => character(Number.parseInt(hex, 16)))
    .replaceAll(/&#(\d{1,7});/g, (_all, decimal: string) => character(Number(decimal)))
    .replaceAll('&quot;', '"')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&');
}

/** True of an address that nobody could guess: without such a part it signs nobody in. */
function holdsSecret({ pathname, searchParams, hash }: URL): boolean {
  const given = [...searchParams].filter(([name]) => !/^utm_|^(?:lang|locale|email|source|ref)$/i.test(name));
  const parts = [...given.map(([, value]) => value), ...pathname.split('/'), ...hash.split(/[#&=/]/)];
  return parts.some((part) => part.length >= 16 || /^(?=.*\d)[\w-]{6,}$/.test(part));
}
