import { REFUSAL } from './website-error.ts';
import { normalize } from '../text/normalize.ts';

/*
 * An account that is locked, and too many attempts: each a pair of words that stand near each other, for languages bend
 * both and put names, times and courtesies between them. The order of the languages is that of words.ts.
 */
const ACCOUNT =
  /(?<![a-z])(accounts?|profile|konto\w*|compte|cuenta|conta|cont(ul)?|kontot|ucet|fiok\w*|hesab\w*|tili\w*|tai khoan|akun|racun)(?![a-z])|аккаунт|учетн\S* запис|учётн\S* запис|обліков\S* запис|профил|λογαριασμ|アカウント|口座|账号|帐号|账户|帐户|帳號|帳戶|계정|حساب|חשבון|บัญชี|खात/u;
const LOCKED =
  /(?<![a-z])(locked|suspended|disabled|blocked|deactivated|gesperrt|deaktiviert|geblokkeerd|vergrendeld|lasts?|sparrats?|blockerats?|laast|sperret|spaerret|verrouille|bloque|suspendu|desactive|bloquead[oa]|suspendid[oa]|deshabilitad[oa]|desactivad[oa]|bloccat[oa]|sospes[oa]|disabilitat[oa]|suspens[oa]|blocat|suspendat|zablokowan\w*|zablokovan\w*|uzamcen\w*|kilitlen\w*|kilitli|bloke|letilt\w*|zarol\w*|lukittu|bi khoa|diblokir|dikunci|terkunci|blokiran|zakljucan)(?![a-z])|заблокир|заблокован|приостановлен|κλειδω|ロック|凍結|停止され|锁定|鎖定|冻结|停用|禁用|잠겼|잠김|정지되|차단되|قفل|حظر|تعليق|ננעל|נחסם|נעול|ถูกล็อก|ถูกระงับ|लॉक|ब्लॉक/u;
/** What the site would do, or asks about, has not happened: `If your account is locked`, `Account locked?`. */
const ONLY_IF = /^(if|when|wenn|falls|als|si|se|quando|jesli|gdy|pokud|если|якщо) |\?$/;

const MANY =
  /(?<![a-z])(too many|exceeded|zu viele|te veel|for manga|for mange|liian monta|trop de|demasiad[oa]s|troppi|muitas|demasiadas|excesso de|prea multe|zbyt (wiele|duzo)|prilis mnoho|tul sok|cok fazla|qua nhieu|terlalu banyak|previse)(?![a-z])|слишком много|забагато|надто багато|πολλές|試行回数|回数が上限|次数|次數|过于频繁|過於頻繁|횟수|너무 많|كثيرة|عديدة|كثير|יותר מדי|רבים|หลายครั้ง|बहुत/u;
const ATTEMPTS =
  /(?<![a-z])(attempts?|tries|requests?|fail(ed|ures)|log-?ins?|sign-?ins?|\w*versuche?|anmelde\w*|\w*pogingen|\w*forsok|forsog|yritys\w*|yrityst\w*|tentatives?|intentos|tentativi|tentativas|incercari|prob\w*|pokusu?|kiserlet\w*|probalkoz\w*|deneme\w*|girisim\w*|lan|percobaan|upaya|pokusaja)(?![a-z])|попыт|запросов|спроб|προσπάθει|試行|上限|尝试|嘗試|错误|錯誤|频繁|頻繁|登录|登入|시도|로그인|محاول|ניסיונות|พยายาม|หลายครั้ง|प्रयास/u;
const TRY_AGAIN_IN =
  /try again (in|after) (a|an|a few|\d+) ?(second|minute|hour|min|sec)|rate limit exceeded|erneut in \d+|reessayez dans \d+|(intentelo|intente|intentalo) (de nuevo )?(en|dentro de) \d+|riprova tra \d+|tente novamente em \d+/;
/** Too many codes that were asked for keep nobody out. */
const ABOUT_CODES = /code|resend|kod |codigo|codice|код|コード|验证码|驗證碼|인증번호/;
/** What parts one cause from the next. Dutch has a word for it that means something else in English. */
const OR =
  /(?<![a-z])(?:and\/or|or|oder|ou|o|u|eller|tai|lub|albo|nebo|alebo|vagy|veya|ya da|sau|hoac|atau|ili|of(?=.*(?:geblokkeerd|vergrendeld)))(?![a-z])|(?<!\p{L})(?:или|або|чи|ή|أو|או|या)(?!\p{L})|または|もしくは|或|또는|หรือ|\//u;
/** Attempts that are counted, by whichever ending. */
const COUNTED =
  /(?<![a-z])(attempts?|tries|\w*versuch\w*|\w*poging(en)?|\w*forsok\w*|yritys\w*|yrityst\w*|tentativ\w*|intentos|incercari|prob[ay]?|pokus\w*|kiserlet\w*|probalkoz\w*|deneme\w*|girisim\w*|percobaan|upaya)(?![a-z])|попыт|спроб|προσπάθει|試行|尝试|嘗試|次数|次數|시도|횟수|محاول|ניסיונות|พยายาม|प्रयास/u;
/** Letters between the two words of a pair. */
const NEAR = 60;

/** What a site says that lets nobody in for now: too many attempts, or an account that is locked. Else undefined. */
export function detectLockout(texts: readonly string[]): 'rate_limited' | 'account_locked' | undefined {
  const isLocked = (said: string): boolean => standNear(said, ACCOUNT, LOCKED) && !isOneCauseOfSeveral(said);
  if (texts.some((text) => sentencesOf(text).some(isLocked))) return 'account_locked';
  const others = texts.filter((text) => !ABOUT_CODES.test(normalize(text)));
  const isTooMany = (said: string): boolean => standNear(said, MANY, ATTEMPTS) || TRY_AGAIN_IN.test(said);
  return others.some((text) => sentencesOf(text).some(isTooMany)) ? 'rate_limited' : undefined;
}

function sentencesOf(text: string): string[] {
  const sentences = text.split(/(?<=[.!?。！？])\s*/).map((sentence) => normalize(sentence));
  return sentences.filter((said) => said !== '' && !ONLY_IF.test(said));
}

function standNear(said: string, one: RegExp, other: RegExp): boolean {
  const first = one.exec(said);
  const second = other.exec(said);
  return first !== null && second !== null && Math.abs(first.index - second.index) <= NEAR;
}

/**
 * `Incorrect user name or password or account is temporarily blocked.` is said of every wrong password, by sites that tell
 * nobody which accounts there are. Where attempts are counted, the other cause is why the account is locked.
 */
function isOneCauseOfSeveral(said: string): boolean {
  if (MANY.test(said) || COUNTED.test(said)) return false;
  return said.split(OR).some((cause) => REFUSAL.test(cause) && !LOCKED.test(cause));
}
