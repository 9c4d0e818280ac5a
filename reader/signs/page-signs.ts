import { MAIL } from '../choices/mfa-methods.ts';
import type { ChildFrameFacts, FrameSnapshot } from '../facts.ts';
import { anyOf, normalize } from '../text/normalize.ts';
import { textsOf, visibleText } from '../text/page-text.ts';

const EXTERNAL_ACTION = anyOf(
  'check your email, check your inbox, check your mail, we sent you a link, sent you a link, sent a link, sent you an email with a link, click the link, open the link, follow the link, magic link, sign in link, sent you a magic link',
  'approve the sign in, approve sign in, approve the request, approve this request, approve the login, approve your sign in, waiting for approval, open your authenticator app, tap yes, confirm on your, check your phone, check your device, we sent a notification, sent a notification, notification sent, push sent, duo push, approving the notification, approve the notification, check for a prompt, push notification, respond to the notification, pushed a login request',
  'scan the qr code, scan this code, scan the code, scan with your, scan this qr code, verify your email, confirm your email, authorize this device, approve this device',
  'prufen sie ihre e mails, prufe deine e mails, link gesendet, link geschickt, klicken sie auf den link, bestatigen sie die anmeldung, auf ihrem smartphone, auf ihrem telefon, qr-code scannen, scannen sie den',
  'consultez votre boite, verifiez vos e-mails, verifiez votre boite, cliquez sur le lien, un lien, approuvez la demande, sur votre telephone, scannez le code, revisa tu correo, consulta tu correo, haz clic en el enlace, aprueba la solicitud, en tu telefono, escanea el codigo',
  'controlla la tua email, controlla la posta, clicca sul link, approva la richiesta, verifique seu e-mail, clique no link, aprove a solicitacao, bekijk je e-mail, controleer je e-mail, klik op de link, kolla din e-post, godkann',
  'проверьте почту, проверьте свою почту, перейдите по ссылке, подтвердите вход, отсканируйте, メールを確認, メールをご確認, リンクをクリック, 承認してください, qrコードをスキャン, 查看您的邮件, 查收邮件, 点击链接, 扫描二维码, 扫码, 在手机上确认, 이메일을 확인, 링크를 클릭, 승인',
);
const CAPTCHA = anyOf(
  "verify you are human, verify that you are human, verify you're human, verifying you are human, are you human, i am human, i'm not a robot, im not a robot, not a robot, are you a robot, prove you are human, confirm you are human, complete the captcha, solve the captcha, security challenge, press and hold, press & hold, checking your browser, checking if the site connection is secure, just a moment, complete the security check, unusual traffic",
  'ich bin kein roboter, bestatigen sie dass sie ein mensch, je ne suis pas un robot, verifiez que vous etes humain, no soy un robot, non sono un robot, nao sou um robo, nie jestem robotem, ben robot degilim, я не робот, подтвердите что вы не робот, 私はロボットではありません, 进行人机身份验证, 人机验证, 我不是机器人, 로봇이 아닙니다',
);
const BLOCKED = anyOf(
  "you don't have permission to access",
  'access denied, access to this page has been denied, you have been blocked, you are blocked, sorry you have been blocked, attention required, request blocked, 403 forbidden, you do not have permission to access, made us think you were a bot, error 1020, pardon our interruption, your request has been blocked, this request was blocked, bot detected, automated access, not available in your region, unable to access, request unsuccessful',
  'zugriff verweigert, zugriff wurde verweigert, acces refuse, acceso denegado, accesso negato, acesso negado, dostep zabroniony, erisim engellendi, доступ запрещен, доступ ограничен, アクセスが拒否, 访问被拒绝, 拒绝访问, 접근이 거부, 차단',
);
const PASSKEY = anyOf(
  'passkey, passkeys, security key, fingerprint face or screen lock, face id, touch id, windows hello, your device will ask, insert your security key, webauthn',
  'passkey verwenden, sicherheitsschlussel, cle d acces, cle de securite, clave de acceso, chiave di accesso, chave de acesso, ключ доступа, パスキー, 通行密钥, 패스키',
);
const OUTAGE = anyOf(
  "service unavailable, bad gateway, gateway timeout, gateway time-out, internal server error, temporarily unavailable, under maintenance, down for maintenance, scheduled maintenance, site is down, application error, site can't be reached",
  'nicht erreichbar, wartungsarbeiten, service indisponible, en maintenance, servicio no disponible, en mantenimiento, in manutenzione, em manutencao, технические работы, メンテナンス中, 维护中, 점검 중',
);
const CHALLENGE_FRAME =
  /recaptcha\/(api2|enterprise)\/(anchor|bframe)|hcaptcha\.com|challenges\.cloudflare\.com|turnstile|arkoselabs|funcaptcha|geo\.captcha-delivery|datadome|px-captcha|captcha/i;

/** The instruction of a page that waits for an action elsewhere (a mailed link, an approval, a QR scan), or null. */
export function externalActionMessage(frames: readonly FrameSnapshot[]): string | null {
  return instructionOf(frames, EXTERNAL_ACTION);
}

/** Words of a link whose channel is not named; a text message would be. */
const LINK = anyOf('link, links, lien, enlace, collegamento, lenke, lank, odkaz, ссылк, リンク, 链接, 連結, 링크');
const BY_PHONE = anyOf('sms, text message, notification, phone, telefon, telephone, qr, push');

/** True for an instruction to open a mailed link. */
export function mentionsMailedLink(instruction: string): boolean {
  const said = normalize(instruction);
  return !APPROVAL.test(said) && !BY_PHONE.test(said) && (MAIL.test(said) || LINK.test(said) || said.includes('@'));
}

function instructionOf(frames: readonly FrameSnapshot[], words: RegExp): string | null {
  const matching = textsOf(frames)
    .filter(({ within, region }) => within === 'none' && region !== 'consent' && region !== 'footer')
    .map(({ text }) => text)
    .filter((text) => words.test(normalize(text)));
  return matching.length === 0 ? null : [...new Set(matching.slice(0, 3))].join(' ').slice(0, 500);
}

/** Words of an approval on another device. `Check your phone` is not one: next to a code field it may refer to the code. */
const APPROVAL = anyOf(
  'approve the sign in, approve sign in, approve your sign in, approve the request, approve this request, approve the login, approve this login, approve or deny, waiting for approval, waiting for you to approve, tap yes, tap approve',
  'sent a notification, sent you a notification, notification sent, notification was sent, push sent, sent a push, sent you a push, approve the notification, approving the notification, check for a prompt, respond to the notification, pushed a login request',
  'bestatigen sie die anmeldung, benachrichtigung gesendet, benachrichtigung geschickt, approuvez la demande, notification envoyee, aprueba la solicitud, notificacion enviada, approva la richiesta, aprove a solicitacao',
  'подтвердите вход, 承認してください, 通知を送信, 在手机上确认',
);

/** The instruction of a page that waits for an approval on another device, or null. */
export function approvalMessage(frames: readonly FrameSnapshot[]): string | null {
  return instructionOf(frames, APPROVAL);
}

/** The badge of an invisible reCAPTCHA (with border) is not a challenge, in pixels. */
const MAX_BADGE_HEIGHT = 68;

/** True for a page that shows little but a captcha: a known frame, or the words of one. */
export function isChallengePage(frames: readonly FrameSnapshot[], topic: string, said: string): boolean {
  if (said.length > 2_500) return false;
  return (
    challengeFrames(frames).some(({ box }) => box.width > 60 && box.height > MAX_BADGE_HEIGHT) || CAPTCHA.test(topic)
  );
}

/** True if a captcha puzzle is open over the page, which blocks everything else. */
export function showsOpenPuzzle(frames: readonly FrameSnapshot[]): boolean {
  return challengeFrames(frames).some(
    ({ src, box }) => PUZZLE_FRAME.test(src) && box.width >= 250 && box.height >= 250 && box.y >= 0,
  );
}

const PUZZLE_FRAME = /\/bframe|frame=challenge|arkoselabs|funcaptcha|captcha-delivery/i;

function challengeFrames(frames: readonly FrameSnapshot[]): ChildFrameFacts[] {
  return frames.flatMap(({ facts }) =>
    facts.frames.filter((child) => CHALLENGE_FRAME.test(`${child.src} ${child.title} ${child.name}`)),
  );
}

/**
 * Evidence that the site blocks this browser, or null. One sign is not enough: a phrase needs a status, a second phrase, a
 * reference number, or an otherwise empty page.
 */
export function blockedEvidence(
  frames: readonly FrameSnapshot[],
  topic: string,
  said: string,
  status: number,
): string | null {
  if (said.length > 2_500) return null;
  const signs: string[] = [];
  const phrase = BLOCKED.exec(topic)?.[0];
  if (phrase !== undefined) signs.push(`"${phrase}"`);
  const more = phrase === undefined ? undefined : BLOCKED.exec(said.replaceAll(phrase, ''))?.[0];
  if (more !== undefined) signs.push(`"${more}"`);
  const isRefused = status === 401 || status === 403 || status === 429;
  if (isRefused) signs.push(`status ${status}`);
  const pressable = frames.flatMap(({ facts }) => facts.clickables).filter(({ visible }) => visible).length;
  if (said.length < 600 && pressable <= 3) signs.push('nothing else on the page');
  if (/(ray id|reference ?(#|id|number|no)|incident id|request id|error code|support id)/.test(said))
    signs.push('a reference number');
  return (phrase !== undefined || isRefused) && signs.length >= 2 ? signs.join('; ') : null;
}

/** Longer texts say more than that the page is loading. */
const MAX_LOADING_TEXT = 240;

/** True for a page that shows only a loading indicator. */
export function isLoadingPage(frames: readonly FrameSnapshot[]): boolean {
  if (visibleText(frames).length > MAX_LOADING_TEXT) return false;
  const isPressable = frames.some(
    ({ facts }) => facts.clickables.some(({ visible }) => visible) || facts.controls.some(({ visible }) => visible),
  );
  const saysLoading = (text: string): boolean => text.split(/(?<=[.!…])\s+/).some((sentence) => LOADING.test(sentence));
  return !isPressable && frames.some(({ facts }) => facts.busy || facts.texts.some(({ text }) => saysLoading(text)));
}

/** Matches a whole sentence. */
const LOADING =
  /^(loading|please wait|one moment|just a moment|starting|connecting|wird geladen|lädt|bitte warten|chargement|veuillez patienter|cargando|espere|caricamento|attendere|carregando|aguarde|laden|загрузка|読み込み中|加载中)( [\p{L} ]{1,40})?[.… !]*$/iu;

/** True for a page that announces an outage or maintenance. A form to submit makes it a notice about a later one. */
export function isOutagePage(frames: readonly FrameSnapshot[], topic: string, said: string): boolean {
  const hasSubmit = frames.some(({ facts }) =>
    facts.clickables.some(({ visible, type, form }) => visible && type === 'submit' && form >= 0),
  );
  return !hasSubmit && said.length < 800 && OUTAGE.test(topic);
}

const PASSWORD_DEMAND = anyOf(
  'password has expired, password is expired, password expired, must change your password, must change the password, required to change your password, requires you to change, have to change your password, need to change your password',
  'change your password before, change your password to continue, must choose a new password, must set a new password, must be changed before, password change required, password change is required',
  'passwort ist abgelaufen, kennwort ist abgelaufen, passwort abgelaufen, mussen ihr passwort andern, mussen ihr kennwort andern, mot de passe a expire, devez changer votre mot de passe, devez modifier votre mot de passe',
  'contrasena ha caducado, contrasena ha expirado, debe cambiar su contrasena, debe cambiar la contrasena, password e scaduta, devi cambiare la password, senha expirou, deve alterar a senha, wachtwoord is verlopen, moet uw wachtwoord wijzigen',
  'срок действия пароля истек, необходимо сменить пароль, パスワードの有効期限が切れ, 密码已过期, 必须修改密码, 비밀번호가 만료',
);

/** True for a page that says that the password must be changed first. */
export function demandsNewPassword(frames: readonly FrameSnapshot[]): boolean {
  return textsOf(frames).some(({ text }) => PASSWORD_DEMAND.test(normalize(text)));
}

/** Words of an offer to create a passkey. */
export const PASSKEY_OFFER = anyOf(
  'create a passkey, create passkey, create your passkey, add a passkey, add passkey, set up a passkey, set up passkey, save a passkey, save passkey, get a passkey, register a passkey, enable passkeys, sign in faster with a passkey',
  'passkey erstellen, passkey einrichten, passkey hinzufugen, passkey anlegen, creer une cle d acces, ajouter une cle d acces, crear una clave de acceso, crear llave de acceso, anadir una clave de acceso',
  'crea una passkey, crea passkey, crea una chiave di accesso, criar uma chave de acesso, criar chave de acesso, toegangssleutel maken, skapa en nyckel, создать ключ доступа, パスキーを作成, 创建通行密钥, 패스키 만들기',
);

/** True for a page about passkeys. */
export function mentionsPasskeys(topic: string): boolean {
  return PASSKEY.test(topic);
}

/** True for the browser's own error page. */
export function isBrowserErrorPage(url: string): boolean {
  return url.startsWith('chrome-error:');
}

/** True for HTTP authentication: the browser shows an empty page with status 401. */
export function isHttpAuthPrompt(status: number, said: string): boolean {
  return status === 401 && said === '';
}

const SESSION_EXPIRED = anyOf(
  'session expired, session has expired, session is expired, session timed out, session has timed out, session timeout, session ended, session has ended, session is over, session was ended, session is no longer valid, session is invalid',
  'you have been logged out, you have been signed out, you were logged out, you were signed out, you are logged out, you are no longer logged in, you are no longer signed in, you are not logged in, log in again, sign in again, login again, login has expired, not logged in anymore',
  'sitzung ist abgelaufen, sitzung abgelaufen, sitzung wurde beendet, wurden abgemeldet, wurdest abgemeldet, erneut anmelden, melden sie sich erneut an, melde dich erneut an, nicht mehr angemeldet, anmeldung ist abgelaufen',
  'session a expire, session expiree, avez ete deconnecte, reconnectez vous, veuillez vous reconnecter, sesion ha caducado, sesion ha expirado, sesion expirada, se ha cerrado la sesion, inicia sesion de nuevo, inicie sesion de nuevo, vuelva a iniciar sesion',
  'sessione scaduta, sessione e scaduta, accedi di nuovo, effettua nuovamente l accesso, sessao expirou, sessao expirada, faca login novamente, entre novamente, sesja wygasla, zaloguj sie ponownie, oturumunuz sona erdi, oturum suresi doldu, tekrar giris yapin, sessie is verlopen, log opnieuw in, meld u opnieuw aan',
  'сессия истекла, сеанс истек, войдите снова, войдите заново, セッションの有効期限が切れ, 再度ログイン, もう一度ログイン, 会话已过期, 登录已过期, 登录已失效, 登录状态已过期, 重新登录, 重新登錄, 重新登入, 세션이 만료, 다시 로그인',
);
/** Words of a warning: the session has not expired yet. */
const EXPIRES_SOON =
  /(?<![a-z])(will|about to|going to|soon|expires? in|expiring|in \d+ (second|minute)s?|extend|stay (signed|logged) in|keep me|wird|lauft|bald|verlangern|va expirer|bientot|a punto|prolonger|por expirar|sta per|estende|prestes)(?![a-z])|即将|还有|まもなく|延長|곧|истека|продлить/;
const MAX_NOTICE_LENGTH = 400;

/**
 * True if a dialog says that the session has expired. The page beneath it was rendered earlier and still looks signed in.
 * A warning of a coming expiry does not count.
 */
export function showsSessionExpired(frames: readonly FrameSnapshot[]): boolean {
  const dialogTexts = textsOf(frames)
    .filter(({ region }) => region === 'dialog' || region === 'popup')
    .map(({ text }) => text);
  const said = normalize([...new Set(dialogTexts)].join(' | '));
  return said.length <= MAX_NOTICE_LENGTH && SESSION_EXPIRED.test(said) && !EXPIRES_SOON.test(said);
}
