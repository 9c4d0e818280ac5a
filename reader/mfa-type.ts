import type { MfaType } from '../contract/reading.ts';
import type { z } from 'zod';
import type { ClickableFacts } from './facts.ts';
import { maskedDestination } from './mask.ts';
import { anyOf, identifierWords, normalize } from './normalize.ts';
import { AUTHENTICATOR } from './mfa-words.ts';

type Mfa = z.infer<typeof MfaType>;

const SWITCH = anyOf(
  'try another way, another way, other way, use another method, another method, different method, other options, more options',
  'use a different method, choose another, choose another method, other methods, other ways, different way, switch method',
  'other verification methods, other sign in options, more ways, use another way, having trouble, i have a problem',
  "can't use, don't have access, use another two-factor method, more choices, select another, other devices, sign in another way",
  'andere methode, andere moglichkeit, auf andere weise, andere option, autre methode, essayer autrement, autre facon',
  'otra forma, probar otra manera, otro metodo, prova un altro metodo, altro metodo, outro metodo, tentar de outra forma',
  'inny sposob, annat satt, andere manier, baska bir yol, другой способ, 別の方法, 他の方法, 其他方式, 其他方法, 다른 방법',
);
const SMS = anyOf(
  'sms, text, text me, text message, text a code, mobile phone, phone number, message, kurznachricht, par sms, mensaje de texto, sms bericht',
  'смс, ショートメッセージ, 短信, 簡訊, 문자',
);
/** Words of a phone call. */
export const CALL = anyOf(
  'call, call me, voice, voice call, phone call, anruf, anrufen, appel, appel vocal, llamada, llamar, chiamata, ligacao, bellen',
  'звонок, 電話をかける, 音声通話, 语音, 電話, 전화',
);
/** Words of e-mail. */
export const MAIL = anyOf(
  'email, e mail, mail, correo, courriel, posta, почта, письмо, メール, 邮件, 邮箱, 電子郵件, 이메일',
);
const PUSH = anyOf(
  'push, push notification, send push, duo push, notification, approve, prompt, tap yes, okta verify, approve a request',
  'benachrichtigung, notificacion, notifica, notificacao, powiadomienie, melding, уведомление, 通知, 推送, 알림',
);
/** Words of a way that asks for the password. */
export const PASSWORD_INSTEAD = anyOf(
  'use password, password instead, enter your password, use my password, use your password, password, passwort, mot de passe, contrasena',
  'senha, wachtwoord, haslo, пароль, パスワード, 密码, 비밀번호',
);
const DEVICE = anyOf(
  'yubikey, backup code, backup codes, recovery code, recovery codes, hardware token, face, fingerprint',
  'wiederherstellungscode, backup code, code de secours, codigo de respaldo, codice di backup',
  'резервн, バックアップ コード, 备用, 백업 코드',
);
const NOT_A_METHOD =
  /(?<![a-z])(resend|send again|new code|cancel|back|sign out|log ?out|learn more|help|privacy|terms|trust|remember|submit|verify|continue|next|sign in|login|change (?:your )?(?:email|phone|number))(?![a-z])|再送|重新|재전송/;

/** How a button on a second-factor page would have the person identify; `other` for ways we have no name for. */
export function mfaTypeOf(button: ClickableFacts): Mfa | 'other' | undefined {
  if (button.type === 'submit' && button.text === '') return undefined;
  const said = normalize(`${button.text} ${button.ariaLabel}`);
  if (said === '' || said.length > 220) return undefined;
  const named = identifierWords(button.id, button.name, button.extra);
  if (SWITCH.test(said)) return 'switch';
  if (NOT_A_METHOD.test(said) && !maskedDestination(button.text) && !AUTHENTICATOR.test(said)) return undefined;
  if (button.href.startsWith('mailto:') || button.href.startsWith('tel:')) return undefined;
  if (DEVICE.test(said)) return 'other';
  if (AUTHENTICATOR.test(said) || /(^| )totp( |$)/.test(named)) {
    return PUSH.test(said) && !/code/.test(said) ? 'push' : 'totp';
  }
  if (PUSH.test(said)) return 'push';
  if (CALL.test(said)) return 'call';
  if (MAIL.test(said)) return 'email';
  if (SMS.test(said)) return 'sms';
  const masked = maskedDestination(button.text);
  if (masked) return masked.includes('@') ? 'email' : 'sms';
  return PASSWORD_INSTEAD.test(said) ? 'password' : undefined;
}
