import type { SeenFrame } from './clusters.ts';
import { anyOf, normalize } from './normalize.ts';

/** What a window says over a page whose session has ended. */
const OVER = anyOf(
  'session expired, session has expired, session is expired, session timed out, session has timed out, session timeout, session ended, session has ended, session is over, session was ended, session is no longer valid, session is invalid',
  'you have been logged out, you have been signed out, you were logged out, you were signed out, you are logged out, you are no longer logged in, you are no longer signed in, you are not logged in, log in again, sign in again, login again, login has expired, not logged in anymore',
  'sitzung ist abgelaufen, sitzung abgelaufen, sitzung wurde beendet, wurden abgemeldet, wurdest abgemeldet, erneut anmelden, melden sie sich erneut an, melde dich erneut an, nicht mehr angemeldet, anmeldung ist abgelaufen',
  'session a expire, session expiree, avez ete deconnecte, reconnectez vous, veuillez vous reconnecter, sesion ha caducado, sesion ha expirado, sesion expirada, se ha cerrado la sesion, inicia sesion de nuevo, inicie sesion de nuevo, vuelva a iniciar sesion',
  'sessione scaduta, sessione e scaduta, accedi di nuovo, effettua nuovamente l accesso, sessao expirou, sessao expirada, faca login novamente, entre novamente, sesja wygasla, zaloguj sie ponownie, oturumunuz sona erdi, oturum suresi doldu, tekrar giris yapin, sessie is verlopen, log opnieuw in, meld u opnieuw aan',
  'сессия истекла, сеанс истек, войдите снова, войдите заново, セッションの有効期限が切れ, 再度ログイン, もう一度ログイン, 会话已过期, 登录已过期, 登录已失效, 登录状态已过期, 重新登录, 重新登錄, 重新登入, 세션이 만료, 다시 로그인',
);
/** It still goes on. */
const SOON =
  /(?<![a-z])(will|about to|going to|soon|expires? in|expiring|in \d+ (second|minute)s?|extend|stay (signed|logged) in|keep me|wird|lauft|bald|verlangern|va expirer|bientot|a punto|prolonger|por expirar|sta per|estende|prestes)(?![a-z])|即将|还有|まもなく|延長|곧|истека|продлить/;
/** A window that says so says little else. */
const MAX_LENGTH = 400;

/**
 * True where a window over the page says that the session has ended: what stands under it was drawn before, with all signs of
 * a visitor who is known. A window that warns of an end to come is none.
 */
export function saysSessionOver(frames: readonly SeenFrame[]): boolean {
  const said = frames
    .flatMap(({ facts }) => facts.texts)
    .filter(({ region }) => region === 'dialog' || region === 'popup')
    .map(({ text }) => text);
  const all = normalize([...new Set(said)].join(' | '));
  return all !== '' && all.length <= MAX_LENGTH && OVER.test(all) && !SOON.test(all);
}
