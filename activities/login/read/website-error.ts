import type { LoginGroup, SeenFrame } from './login-group.ts';
import type { TextFacts } from './facts.ts';
import { anyOf, normalize } from './normalize.ts';

/** Words that only an error message would use. */
const ERROR_WORDS = anyOf(
  "incorrect, invalid, wrong, failed, failure, error, denied, not recognized, not recognised, unrecognized, doesn't match, does not match",
  "do not match, don't match, didn't match, did not match, doesn't exist, does not exist, not exist, no account, couldn't find, could not find, can't find, cannot find",
  "not found, couldn't sign, could not sign, unable to, can't sign, cannot sign, couldn't log, could not log, not valid, isn't valid, is not valid, isn't right, not correct, isn't correct, not registered, bad credentials",
  'locked, disabled, suspended, blocked, expired, too many, try again, please try again, attempts, required, please enter, please provide, must be, mismatch, unknown user, inactive, unauthorized, not authorized, not allowed, went wrong, problem',
  'falsch, ungultig*, fehlgeschlagen, fehler, nicht korrekt, stimmt nicht, stimmen nicht, nicht gefunden, unbekannt*, gesperrt, abgelaufen, erneut, bitte geben, inkorrekt, nicht erkannt, existiert nicht, fehlerhaft*',
  'onjuist*, ongeldig*, mislukt, fout, verkeerd*, felaktig*, fel, ogiltig*, misslyckades, forkert, ugyldig*, feil, mislykkedes, virheellinen, vaara, epaonnistui',
  'incorrect*, invalide*, errone*, erreur, echec, introuvable, expire*, bloque*, inconnu*, reessayer, veuillez, obligatoire',
  'incorrecto, incorrecta, incorrectos, invalido, invalida, error, fallido, no coincide*, no existe, bloqueada, caducado, intentalo de nuevo, vuelve a intentarlo, no reconoc*, no valido, no valida, obligatorio',
  'errato, errata, errate, errati, non valido, non valida, non corrett*, errore, non riuscito, scaduto, bloccato, riprova, non riconosciuto, sbagliat*, credenziali non valide',
  'incorreto, incorreta, incorretos, invalidos, invalidas, erro, falhou, expirado, bloqueado, tente novamente, nao encontrado, nao encontramos, nao confere*, obrigatorio',
  'nieprawidlow*, niepoprawn*, bledn*, blad, bledne, nie powiodlo, wygasl*, zablokowan*, sprobuj ponownie, spatn*, nespravn*, neplatn*, chyba, hibas, helytelen, ervenytelen, sikertelen',
  'hatali, yanlis, gecersiz, basarisiz, hata, bulunamadi, tekrar deneyin, suresi doldu, kilitlendi, sai, khong dung, khong hop le, loi, salah, gagal, tidak valid, incorecta, gresit*, gresita, eroare, pogresn*, neispravn*, napacn*',
  'неверн, неправильн, ошибк, не найден, не удалось, истек, заблокирован, недействительн, попробуйте, некорректн, невірн, помилк, неправильн, λάθος, λανθασμέν, σφάλμα, μη έγκυρ',
  '正しくありません, 間違, 誤り, 無効, エラー, 失敗, 見つかりません, 一致しません, 期限切れ, 入力してください, ロックされ, できませんでした, 異なり',
  '错误, 不正确, 无效, 失败, 不存在, 有误, 过期, 锁定, 不匹配, 请输入, 請輸入, 錯誤, 不正確, 無效, 失敗, 有誤, 잘못, 올바르지, 일치하지, 유효하지, 오류, 실패, 찾을 수 없, 만료, 입력하세요, 입력해, 존재하지, 틀렸',
  'خطأ, غير صحيح, غير صالح, فشل, שגוי, שגויים, שגיאה, אינו תקין, ไม่ถูกต้อง, ผิดพลาด, गलत, अमान्य',
);

/** Words of messages that look like errors and are none. */
const NO_ERROR = anyOf(
  'success, successfully, signed out, logged out, you have been signed out, you have been logged out, check your email, welcome, has been sent, we sent, code sent, saved, updated, copied, new code',
  'cookie, cookies, gdpr, privacy policy, consent, we use, javascript, browser is not supported, outdated browser, unsupported browser, maintenance, scheduled, upgrade your browser, capslock, caps lock',
  'erfolgreich, abgemeldet, gesendet, deconnecte, succes, cerrado sesion, sesion cerrada, exito, disconnesso, sucesso, wylogowan*, basarili, вышли, успешно, ログアウトしました, 成功, 已退出, 성공, 로그아웃되었습니다',
);

const STRONG_MARK =
  /role=alert(?!dialog)|live=assertive|(?<![a-z])(error|errors|danger|invalid|err|errormessage|errortext|alert-error|alert-danger|failure|fail|incorrect|problem|has-error|fehler|erreur)(?![a-z])|[a-z]error|error[A-Z_-]|Error/i;
const WEAK_MARK =
  /role=status|live=polite|(?<![a-z])(warn|warning|alert|flash|message|messages|msg|notification|notice|notify|toast|snackbar|feedback|validation|helper)/i;
const GOOD_MARK = /(?<![a-z])(success|ok|info|positive|confirm|helpblock|help-block|hint)(?![a-z])/i;

const MAX_LENGTH = 500;

/** The error that the site shows now, in its own words, or null. Hints, cookie notices and good news are not errors. */
export function readWebsiteError(frames: readonly SeenFrame[], form: LoginGroup | undefined): string | null {
  const rated = frames.flatMap((frame) =>
    frame.facts.texts.map((text) => ({ text, frame, points: rate(text, frame, form) })),
  );
  const [best] = rated.filter((each) => each.points >= 5).sort((a, b) => b.points - a.points);
  return best ? wholeMessage(best.text, best.frame) : null;
}

function rate(text: TextFacts, frame: SeenFrame, form: LoginGroup | undefined): number {
  if (text.within === 'button' || text.region === 'consent' || text.region === 'nav' || text.region === 'footer')
    return 0;
  if (text.text.length < 3 || text.text.length > MAX_LENGTH - 100) return 0;
  const said = normalize(text.text);
  if (NO_ERROR.test(said)) return 0;
  if (text.within === 'link' && !/role=alert/.test(text.marks)) return 0;
  const inForm = form !== undefined && frame === form.frame;
  const here = inForm && (text.group === form.index || isClose(text, form));
  const wording = ERROR_WORDS.test(said);

  let points = 0;
  if (text.describesInvalid) points += 5;
  if (STRONG_MARK.test(text.marks)) points += 3;
  else if (WEAK_MARK.test(text.marks)) points += 1.5;
  if (/role=alert|live=assertive/.test(text.marks)) points += 1;
  if (text.red) points += 2;
  if (wording) points += 2.5;
  if (here) points += 1;
  if (GOOD_MARK.test(text.marks) && !STRONG_MARK.test(text.marks)) points -= 2;
  if (text.heading && !STRONG_MARK.test(text.marks)) points -= 3;
  if (text.within === 'label' || isMerelyRequired(said)) points -= 3;
  if (!wording && !text.red && !text.describesInvalid) points -= 1;
  return points;
}

/** The star beside a label, or the word for it. */
function isMerelyRequired(said: string): boolean {
  return (
    /^\W*(required|optional|pflichtfeld|obligatoire|required fields?)?\W*$/.test(said) || /fields? marked/.test(said)
  );
}

function isClose(text: TextFacts, form: LoginGroup): boolean {
  const box = form.group.box;
  return text.box.y > box.y - 250 && text.box.y < box.y + box.height + 150;
}

/** An alert of several lines: its blocks one after another, as a person reads them. */
function wholeMessage(best: TextFacts, frame: SeenFrame): string {
  const alert = /[^|]*role=alert(?!dialog)[^|]*/.exec(best.marks)?.[0].trim();
  if (!alert) return best.text.slice(0, MAX_LENGTH);
  const parts = frame.facts.texts.filter(
    (text) =>
      text.marks.includes(alert) &&
      text.within === 'none' &&
      Math.abs(text.order - best.order) < 12 &&
      Math.abs(text.box.y - best.box.y) < 150,
  );
  const lines = parts.length > 0 && parts.length <= 3 ? parts.map((part) => part.text) : [best.text];
  return [...new Set(lines)].join(' ').slice(0, MAX_LENGTH);
}
