import type { FrameSnapshot, TextFacts } from '../facts.ts';
import type { Cluster } from '../form/clusters.ts';
import { anyOf, normalize } from '../text/normalize.ts';
import { bodyTexts } from '../text/page-text.ts';
import { CAPTCHA_FIELD, PASSWORD, SIGN_IN, USER } from '../text/words.ts';

const ALERT = /role=alert(?!dialog)|live=assertive/;
const ERROR_MARK =
  /(?<![a-z])(errors?|danger|invalid|err|errormessage|errortext|errorlist|errornote|failure|fail|failed|incorrect|has-error|fehler|erreur)(?![a-z])|[a-z]error|error[A-Z]|Error/;
const MESSAGE_MARK =
  /role=status|live=polite|(?<![a-z])(warn|warning|alert|flash|message|messages|msg|notification|notice|notify|toast|snackbar|feedback|validation|helper|problem)/i;
const GOOD_MARK = /(?<![a-z])(success|info|positive|help-?block|hint)(?![a-z])/i;
const SUCCESS_MARK = /(?<![a-z])(success|positive)(?![a-z])/i;
/** Conditional advice. */
const CONDITIONAL =
  /^(if|when|wenn|falls|si|se|als|om|jesli|never|do not|don't|make sure|for security|need|having)(?![a-z])|\bif you\b/;

/** A text with an error prefix, or the name of an exception. */
const CALLED_ERROR =
  /^(error|fehler|erreur|errore|erro|fout|fel|fejl|blad|hata|ошибка|エラー|错误|錯誤|오류) ?[:!：]|^(\w+: )?\w*(error|exception) ?[:(]/;

/** Reports of earlier attempts, shown after signing in. */
const HISTORY =
  /^(there (was|were) )?\d+ (failed|unsuccessful) (log ?in|sign ?in|login) attempts?( since [^.!]*)?[.!]?$|^last (failed |unsuccessful |successful )?(log ?in|sign ?in)/;

const MAX_LENGTH = 500;
/** Longer blocks are explanations. */
const MAX_CANDIDATE = 400;
const MIN_SCORE = 5;

/** The error that the site shows, in its own words, or null. Hints, cookie notices and success messages are not errors. */
export function readWebsiteError(frames: readonly FrameSnapshot[], form: Cluster | undefined): string | null {
  const rated = frames.flatMap((frame) =>
    frame.facts.texts.map((text) => ({ text, frame, points: score(text, frame, form) })),
  );
  const [best] = rated.filter((each) => each.points >= MIN_SCORE).sort((a, b) => b.points - a.points);
  // In a label it often follows a dash.
  return best ? wholeMessage(best.text, best.frame).replace(/^[-–—•]\s+/, '') : null;
}

function score(text: TextFacts, frame: FrameSnapshot, form: Cluster | undefined): number {
  const isAlert = ALERT.test(text.marks);
  if (text.within === 'button' || text.region === 'consent') return 0;
  if (!isAlert && (text.region === 'nav' || text.region === 'footer')) return 0;
  if (text.text.length < 3 || text.text.length > MAX_CANDIDATE) return 0;
  const said = normalize(text.text);
  if (LOGIN_PROMPT.test(said) || HISTORY.test(said)) return 0;
  const refuses = REFUSAL.test(said);
  const isMarked = ERROR_MARK.test(text.marks);
  if (NOT_AN_ERROR.test(said) && !(refuses && (isAlert || isMarked))) return 0;
  const isMarkedRefusal = refuses && isMarked;
  // Some errors show their details on a click, and some libraries make every short text a label.
  if (text.within === 'link' && !isAlert && !isMarkedRefusal) return 0;

  let points = 0;
  if (text.describesInvalid) points += 3;
  if (isAlert) points += 2;
  if (isMarked) points += 3.5;
  else if (!isAlert && MESSAGE_MARK.test(text.marks)) points += 1.5;
  if (text.red) points += 2.5;
  const isCalledError = CALLED_ERROR.test(said);
  if (isCalledError) points += 1.5;
  if (refuses) points += 4;
  else if (COMPLAINT.test(said) || mentionsCaptcha(said)) points += 2;
  else points -= 1;
  if (form !== undefined && frame === form.frame && (isInForm(text, form) || isNear(text, form))) points += 1;
  if (form === undefined) points -= 1;

  // Some sites style every message as info. A hint next to a field may say "invalid" without being an alert.
  const isNews =
    GOOD_MARK.test(text.marks) && !(refuses && (isAlert || isCalledError) && !SUCCESS_MARK.test(text.marks));
  if (isNews && !isMarked) points -= 3;
  if (isConditional(said) || (said.includes('?') && !isAlert)) points -= 3;
  // Above the reason, "There was a problem" says less.
  if (text.heading) points -= isAlert || isMarked ? Number(!refuses) : 3;
  if ((text.within === 'label' && !isMarkedRefusal) || isRequiredMark(said)) points -= 4;
  return points;
}

/** A page that only refuses is short. */
const MAX_REFUSAL_TEXTS = 12;

/**
 * The refusal of a login on a page without a form ("Login failed"), for the page after a submission. Plain sentences count here, which
 * next to a form would be no error. Null if the page refuses nothing.
 * @param error what {@link readWebsiteError} found.
 */
export function readLoginRefusal(frames: readonly FrameSnapshot[], error: string | null): string | null {
  if (error !== null) return refusesLogin(normalize(error)) ? error : null;
  const texts = frames.flatMap(({ facts }) => bodyTexts(facts));
  if (texts.length > MAX_REFUSAL_TEXTS) return null;
  const refusals = texts.filter(({ text }) => text.length <= MAX_CANDIDATE && refusesLogin(normalize(text)));
  return (refusals.find(({ heading }) => !heading) ?? refusals[0])?.text.slice(0, MAX_LENGTH) ?? null;
}

/** True for the message of an alert box that refuses what was entered. */
export function isRefusal(message: string): boolean {
  const said = normalize(message);
  return REFUSAL.test(said) && !NOT_AN_ERROR.test(said) && !LOGIN_PROMPT.test(said);
}

function refusesLogin(said: string): boolean {
  const isOther =
    isConditional(said) || [HISTORY, LOGIN_PROMPT, NOT_AN_ERROR, SITE_FAULT].some((words) => words.test(said));
  const isAboutLogin = [PASSWORD, USER, SIGN_IN, CREDENTIALS, AUTHENTICATION].some((words) => words.test(said));
  return REFUSAL.test(said) && isAboutLogin && !isOther;
}

/** True for advice, unless it follows a refusal. */
function isConditional(said: string): boolean {
  const advice = CONDITIONAL.exec(said);
  return advice !== null && !REFUSAL.test(said.slice(0, advice.index));
}

/** True for the asterisk next to a label, or the word `required`. */
function isRequiredMark(said: string): boolean {
  return (
    /^[^\p{L}]*(required|optional|pflichtfeld|obligatoire|required fields?)?[^\p{L}]*$/u.test(said) ||
    /fields? marked/.test(said)
  );
}

function isInForm(text: TextFacts, { controls }: Cluster): boolean {
  return text.form >= 0 && text.form === controls[0]?.control.form;
}

function isNear(text: TextFacts, form: Cluster): boolean {
  const box = form.box;
  return text.box.y > box.y - 250 && text.box.y < box.y + box.height + 150;
}

/** Joins the blocks of an alert or notification. */
function wholeMessage(best: TextFacts, frame: FrameSnapshot): string {
  const alert = /[^|]*role=(alert(?!dialog)|status)[^|]*/.exec(best.marks)?.[0].trim();
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

/** Words of refusals that other texts hardly use. */
export const REFUSAL = anyOf(
  "incorrect, invalid, wrong, failed, failure, denied, not recognized, not recognised, unrecognized, unrecognised, doesn't match, does not match, no match",
  "do not match, don't match, didn't match, did not match, doesn't exist, does not exist, not exist, no account found, no account with, no account exists, no user found, no user with, couldn't find, could not find, can't find, cannot find, don't recognize, didn't recognize",
  "not found, couldn't sign, could not sign, can't sign, cannot sign, couldn't log, could not log, cannot log, can't log, not valid, isn't valid, is not valid, isn't right, is not right, are not right, aren't right, not correct, isn't correct, not registered, bad credentials, bad password, bad username",
  "too many, went wrong, didn't work, did not work, mismatch, unknown user, account is locked, account locked, account has been locked, account is disabled, temporarily locked, suspended, unauthorized, not authorized, has expired, was not accepted, try another email, try another username, try another password, try a different email, try a different username, try a different password",
  'falsch*, ungultig*, fehlgeschlagen, nicht korrekt, nicht richtig, stimmt nicht, stimmen nicht, nicht gefunden, unbekannt*, gesperrt, abgelaufen, inkorrekt, nicht erkannt, existiert nicht, fehlerhaft*, nicht moglich',
  'onjuist*, ongeldig*, mislukt, verkeerd*, felaktig*, ogiltig*, misslyckades, stammer inte, forkert*, ugyldig*, mislykkedes, virheellinen, vaara, epaonnistui, incorrect, niet gevonden, klopt niet',
  'incorrecte, incorrects, incorrectes, invalide, invalides, errone*, echec, echoue, introuvable, inconnu*, ne correspond*, incorrecto*, incorrecta*, invalido*, invalida*, fallido, no coincide*, no existe, bloqueada, caducado, no reconoc*, no valido, no valida, no es valid*',
  'errato, errata, errate, errati, non valido, non valida, non valide, non corrett*, non riuscito, scaduto, bloccato, non riconosciut*, sbagliat*, incorreto*, incorreta*, falhou, expirado, bloqueado, nao encontrado, nao encontramos, nao confere*, nao coincide*',
  'nieprawidlow*, niepoprawn*, bledn*, bledne, nie powiodlo, wygasl*, zablokowan*, spatn*, nespravn*, neplatn*, hibas, helytelen, ervenytelen, sikertelen, hatali, yanlis, gecersiz, basarisiz, bulunamadi, suresi doldu, kilitlendi',
  'khong dung, khong hop le, khong chinh xac, salah, gagal, tidak valid, tidak cocok, incorecta, incorect, gresit*, pogresn*, neispravn*, napacn*',
  'неверн, неправильн, не найден, не удалось, истек, заблокирован, недействительн, некорректн, не совпада, невірн, не знайден, λάθος, λανθασμέν, μη έγκυρ, δεν είναι έγκυρ',
  '正しくありません, 正しくない, 間違, 誤り, 誤って, 無効, 失敗, 見つかりません, 一致しません, 期限切れ, ロックされ, できませんでした, 異なり, 違い',
  '错误, 不正确, 无效, 失败, 不存在, 有误, 已过期, 锁定, 不匹配, 錯誤, 不正確, 無效, 失敗, 有誤, 잘못, 올바르지, 일치하지, 유효하지, 실패, 찾을 수 없, 만료, 존재하지, 틀렸, 틀린',
  'غير صحيح, غير صالح, فشل, שגוי, שגויים, אינו תקין, אינם נכונים, ไม่ถูกต้อง, ผิดพลาด, गलत, अमान्य',
);

/** Words of errors that other texts use as well. */
const COMPLAINT = anyOf(
  'error, errors, unable to, required, please enter, please provide, please fill, must be, must not, locked, disabled, blocked, expired, try again, please try again, attempts, not allowed, problem, oops, sorry, cannot be blank, cannot be empty, missing, enter a valid, enter your, fill out, expired link',
  'fehler, erneut, bitte geben, eingeben, erforderlich, pflichtfeld, opnieuw, verplicht, fout, fel, feil, fejl, virhe, erreur, reessayer, veuillez, obligatoire, requis, saisissez, obligatorio, error, intentalo de nuevo, vuelve a intentarlo, introduce',
  'errore, riprova, obbligatorio, inserisci, inserire, erro, tente novamente, informe, preencha, blad, sprobuj ponownie, wymagane, wprowadz, chyba, zadejte, hiba, kotelezo, hata, tekrar deneyin, gerekli, giriniz, loi, vui long, eroare, wajib diisi',
  'ошибк, попробуйте, введите, обязательн, укажите, помилк, введіть, σφάλμα, エラー, 入力してください, 入力して下さい, もう一度, 必須, 请输入, 請輸入, 不能为空, 重试, 오류, 입력하세요, 입력해, 다시, خطأ, שגיאה, กรุณา',
);

/** Words of complaints about empty fields. */
const EMPTY_FIELD = anyOf(
  'empty, blank, required, missing, please enter, please fill, please provide, fill in, fill out, enter your, leer, erforderlich, pflichtfeld, bitte geben, eingeben, ausfullen, verplicht, leeg, invullen',
  'vide, obligatoire, requis, renseignez, veuillez saisir, saisissez, vacio, obligatorio, introduce, rellene, vuoto, obbligatorio, inserisci, vazio, informe, preencha, puste, wymagane, wprowadz, prazdn*, zadejte, bos, gerekli, giriniz',
  'введите, обязательн, укажите, заполните, 入力してください, 必須, 请输入, 請輸入, 不能为空, 입력하세요, 입력해',
);

/** True for an error about empty fields alone, which says nothing on a page where nobody has entered anything. */
export function isEmptyFieldComplaint(error: string): boolean {
  const said = normalize(error);
  return EMPTY_FIELD.test(said) && !REFUSAL.test(said);
}

/** Words of messages that look like errors but are not. */
const NOT_AN_ERROR = anyOf(
  'success, successfully, signed out, logged out, you have been signed out, you have been logged out, check your email, welcome, has been sent, we sent, code sent, saved, updated, copied, email sent, sent to',
  'cookie, cookies, gdpr, privacy policy, consent, javascript, browser is not supported, outdated browser, unsupported browser, maintenance, scheduled, upgrade your browser, capslock, caps lock',
  'erfolgreich, abgemeldet, gesendet, deconnecte, deconnectee, succes, cerrado sesion, sesion cerrada, exito, disconnesso, sucesso, wylogowan*, basarili, вышли, успешно, ログアウトしました, 成功, 已退出, 성공, 로그아웃되었습니다',
);

/** Reasons for asking to sign in. They may be shown in red, but nothing was refused. */
const LOGIN_PROMPT = anyOf(
  'session expired, session has expired, session is expired, session timed out, session has timed out, logged out due to inactivity, signed out due to inactivity',
  'please log in to continue, please sign in to continue, must log in, must be logged in, must sign in, need to log in, need to sign in, need to be logged in, log in to continue, sign in to continue, log in to access, please log in to access, login required',
  'sitzung ist abgelaufen, sitzung abgelaufen, sie mussen sich anmelden, bitte melden sie sich an, session a expire, session expiree, devez vous connecter, sesion ha caducado, sesion ha expirado, sesion expirada, debes iniciar sesion, sessione scaduta, sessione e scaduta',
  'sessao expirou, sessao expirada, sesja wygasla, oturumunuz sona erdi, oturum suresi, sessie is verlopen, сессия истекла, セッションの有効期限, ログインしてください, 会话已过期, 请先登录, 세션이 만료, 로그인이 필요',
);

const AUTHENTICATION = anyOf(
  'login, log on, logon, authentication, anmeldung, inloggegevens, connexion, inicio de sesion, accesso, credenciais, dane logowania',
);
/** Faults of the site itself, which do not depend on what was typed. */
const SITE_FAULT = anyOf(
  'try again later, server error, internal error, technical, temporarily, unavailable, maintenance, timeout, timed out, session, cookie, cookies, csrf, token, spater erneut, technische*, technique*, tecnico, tecnica, plus tard, mas tarde, piu tardi',
);

/** Words of a site that demands a captcha. */
const CAPTCHA = anyOf(
  'robot, a bot, you are human, you are a human, are human, human verification, verify you are a person, verification challenge, security check, security challenge, anti-spam, turnstile, tick the box, check the box, checkbox',
  'roboter, ein mensch, sicherheitsprufung, sicherheitsabfrage, un robot, etes humain, es humano, un robot, eres humano, sei umano, robo, humano, robotem, mens bent',
  'робот, ロボット, 人机验证, 人機驗證, 机器人, 機器人, 로봇',
);
const CREDENTIALS = anyOf(
  'password, passwords, passcode, passphrase, username, user name, credentials, email, e-mail',
  'passwort, kennwort, benutzername, zugangsdaten, anmeldedaten, wachtwoord, gebruikersnaam, losenord, adgangskode, passord, salasana',
  'mot de passe, identifiant, identifiants, contrasena, usuario, senha, credenciales, credenziali, haslo, heslo, jelszo, sifre',
  'пароль, логин, パスワード, 密码, 密碼, 用户名, 비밀번호, 아이디',
);

/** True for an error about a captcha alone. One that also names the credentials may be about those. */
export function isCaptchaError(error: string): boolean {
  const said = normalize(error);
  return mentionsCaptcha(said) && !CREDENTIALS.test(said);
}

function mentionsCaptcha(said: string): boolean {
  return CAPTCHA.test(said) || CAPTCHA_FIELD.test(said);
}
