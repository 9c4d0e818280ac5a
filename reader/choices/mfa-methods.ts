import type { MfaType, CodeChannel, ReadField } from '../../contract/reading.ts';
import type { z } from 'zod';
import type { ClickableFacts } from '../facts.ts';
import { anyOf, identifierWords, normalize } from '../text/normalize.ts';
import { FORGOT } from '../text/words.ts';

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
const CALL = anyOf(
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
/** Words of a method that uses the password. */
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

/** The verification method that a button on a second-factor page offers; `other` for methods without a type of their own. */
export function mfaTypeOf(button: ClickableFacts): Mfa | 'other' | undefined {
  if (button.type === 'submit' && button.text === '') return undefined;
  const said = normalize(`${button.text} ${button.ariaLabel}`);
  if (said === '' || said.length > 220) return undefined;
  const named = identifierWords(button.id, button.name, button.extra);
  if (SWITCH.test(said)) return 'switch';
  if (NOT_A_METHOD.test(said) && !maskedDestination(button.text) && !AUTHENTICATOR.test(said)) return undefined;
  if (button.href.startsWith('mailto:') || button.href.startsWith('tel:')) return undefined;
  if (DEVICE.test(said)) return 'other';
  if (FORGOT.test(said) || isAddress(button.text)) return undefined;
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

/** True for an e-mail address alone, unmasked: the account that is logging in. */
function isAddress(text: string): boolean {
  return /^[^\s*•@]+@[^\s*•@]+$/.test(text.trim());
}

/** Words of a code from an authenticator app. */
export const AUTHENTICATOR = anyOf(
  'authenticator, authenticator app, authentication app, authenticator application, google authenticator, totp',
  'two factor app, 2fa app, authy, code generator, security app, otp app, mobile app, authentication application',
  'authentifizierungs app, authenticator app, authentifizierungsapp, app d authentification, application d authentification',
  'aplicacion de autenticacion, app de autenticacion, app di autenticazione, aplicativo autenticador, autenticador',
  'autentiseringsapp, aplikacji uwierzytelniajacej, kimlik dogrulama uygulamasi, authenticatie app',
  'приложени* для аутентификации, приложения-аутентификатора, аутентификатор, 認証アプリ, 認証システム, 身份验证器, 驗證器, 인증 앱, 인증기',
);

/** Words of a code that was sent. */
export const MESSAGED = anyOf(
  'sms, text message, texted, sent, we sent, sent to, we emailed, emailed, check your phone, check your email, via email, by email',
  'text a code, your inbox, code to your email, code to your phone, sent you, we have sent, just sent, message to, phone call, called you',
  'gesendet, geschickt, per sms, per e mail, verzonden, gestuurd, skickat, skickade, sendt, lahetetty',
  'envoye, envoyee, par sms, par e mail, enviado, enviamos, hemos enviado, por sms, inviato, abbiamo inviato, via sms',
  'wyslalismy, wyslany, odeslali, elkuldtuk, gonderdik, gonderilen, gonderildi, da gui, dikirim',
  'отправили, отправлен, смс, надіслали, 送信しました, お送りしました, 送信された, ショートメッセージ, 已发送, 發送, 短信, 簡訊, 전송했습니다, 보냈습니다, 문자',
);

/** Words of a page about a second factor. */
export const SECOND_FACTOR = anyOf(
  'two factor, 2 factor, 2fa, two step, 2 step, 2 step verification, two step verification, multi factor, mfa, multifactor',
  "verify it's you, verify it is you, verify your identity, confirm your identity, verification method, authentication method, security check",
  'how do you want to receive, how do you want to get, how would you like to get, how would you like to receive, how would you like to verify, choose a method, choose a way, select a method, another way to verify, identity verification, additional verification',
  'zwei faktor, zweistufig*, bestatigen sie ihre identitat, identitat bestatigen, tweestaps*, twee factor, tvafaktors*, tvastegs*, totrinns*, to faktor',
  'deux facteurs, double authentification, deux etapes, validation en deux etapes, verifiez votre identite, dos factores, dos pasos, verifica tu identidad, verificacion en dos pasos, due fattori, due passaggi, verifica la tua identita',
  'dois fatores, duas etapas, verificacao em duas etapas, dwuetapow*, dwuskladnikow*, dvoufazov*, iki adimli, iki faktorlu, kimliginizi dogrulayin',
  'двухфакторн, двухэтапн, подтвердите свою личность, подтвердите, 二段階, 2段階, 二要素, 多要素, 本人確認, 两步验证, 双重验证, 两步, 二次验证, 身份验证, 兩步驟, 2단계, 이중 인증, 본인 확인',
);

/** Words of a text message. `Message` and `phone` alone do not distinguish it from a call. */
const TEXT_MESSAGE = anyOf(
  'sms, text message, text, texted, kurznachricht, mensaje de texto, messaggio di testo, mensagem de texto, tekstbericht',
  'смс, ショートメッセージ, 短信, 簡訊, 문자',
);

/**
 * How the code for a field is delivered, by the field's label and hint; null if the field takes no code. `unknown` if they name
 * no channel or several: a wrong channel would send the person to the wrong place.
 */
export function codeChannel(type: ReadField['type'], label: string, hint: string | null): CodeChannel | null {
  if (type === 'totp_code') return 'totp';
  if (type !== 'code') return null;
  const said = normalize(`${label} | ${hint ?? ''}`);
  const named: CodeChannel[] = [];
  if (TEXT_MESSAGE.test(said)) named.push('sms');
  if (CALL.test(said)) named.push('call');
  if (MAIL.test(said) || said.includes('@')) named.push('email');
  return (named.length === 1 ? named[0] : undefined) ?? 'unknown';
}

/** A masked phone number or e-mail address in a text (`•••12`, `a***@e***.com`), or undefined. */
export function maskedDestination(text: string): string | undefined {
  const email = /[\p{L}\p{N}._%+-]*[*•●∙·…xX.]{2,}[\p{L}\p{N}._%+*•●∙·…-]*@[\p{L}\p{N}*•●∙·….-]+/u.exec(text)?.[0];
  if (email) return email.replace(/[.,;:]+$/, '');
  const phone = /\+?[\d() -]*[*•●∙·…✱⁕xX]{2,}[\d*•●∙·…✱⁕xX() -]*\d{2,4}(?!\d)/u.exec(text)?.[0];
  if (phone) return phone.trim();
  const plain = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+\.[\p{L}\p{N}.-]+\p{L}/u.exec(text)?.[0];
  if (plain) return plain;
  return /(?:ending(?: in| with)?|endet auf|endende? (?:mit|auf)|se terminant par|terminad[oa] en|termina con|eindigend op|末尾|尾号)\s*[:：]?\s*(\d{2,4})/iu.exec(
    text,
  )?.[0];
}
