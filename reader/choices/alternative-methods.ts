import type { ReadChoice } from '../../contract/reading.ts';
import { PASSWORD_INSTEAD } from './mfa-methods.ts';
import type { ClickableFacts } from '../facts.ts';
import { anyOf, normalize } from '../text/normalize.ts';
import { FORGOT, SIGN_UP } from '../text/words.ts';

const IDENTIFIER = anyOf(
  'use phone instead, use phone, use your phone number, phone instead, use mobile number, with phone, with phone number, continue with phone',
  'use email instead, use email, use your email, email instead, with email, continue with email, sign in with email, log in with email, sign in with phone',
  'use username instead, with username, use a username, log in with phone, login with email, login with phone, use phone number, use phone or email',
  'mit e mail anmelden, mit e mail fortfahren, mit telefonnummer, mit email fortfahren, continuer avec une adresse e-mail, avec un numero de telephone',
  'continuar con correo, continuar con correo electronico, con el telefono, con telefono, continua con l email, continuar com e-mail, continuar com email',
  'войти по номеру, войти по почте, по номеру телефона, メールアドレスでログイン, 電話番号でログイン, メールで続ける, 手机号登录, 邮箱登录, 手機號碼登入, 이메일로 로그인, 휴대폰으로 로그인, 이메일로 계속',
);
const METHOD = anyOf(
  'sign in with password, log in with password, login with password, use password, use a password, use password instead, use your password instead, sign in with a password, enter password instead, using your password, using a password, with your password',
  'email me a link, email me a login link, send me a link, magic link, send magic link, email a sign in link, sign in with a link, one time link',
  'email me a code, email me a one time code, send me a one time code, send one time code, one time code, one time password, send me a code, use a code, use one time code, one time code instead, sign in with a code, get a code, email code, text me a code, use a sign in code',
  'qr code, use qr code, sign in with qr, scan qr, other sign in options, sign in options, more sign in options, try another way, another way to sign in, try a different way, sign in another way, sign in with a different method, more options',
  'mit passwort anmelden, per link anmelden, weitere optionen, weitere anmeldemoglichkeiten, anmeldeoptionen, utiliser un mot de passe, usar contrasena, con contrasena, usa la password, usar senha',
  'войти с паролем, по паролю, по qr-коду, パスワードでログイン, パスワードを使用, qrコード, 密码登录, 验证码登录, 扫码登录, 密碼登入, 비밀번호로 로그인, qr코드',
);
const PASSKEY = anyOf(
  'passkey, passkeys, use a passkey, sign in with a passkey, security key, webauthn, windows hello, face id, touch id, fido2, with a device, with your device, biometric, biometrics',
  'passkey verwenden, mit passkey anmelden, sicherheitsschlussel, cle d acces, clave de acceso, llave de acceso, chiave di accesso, chave de acesso, toegangssleutel, nyckel',
  'ключ доступа, パスキー, 通行密钥, 密碼金鑰, 패스키',
);
/** `Send me a sign-in code`, `Email me a login link` and similar. */
const SENDS = /^(send|e-?mail|text|mail|get)( me)?( an?| the)? ([a-z-]+ ){0,3}(code|link) \|/;
const NOT_A_METHOD = /learn more|what is|about|help|create|add|set ?up|register|manage|download|resend|send again/;

const ONE_TIME = /one[ -]?time|einmal|usage unique|un solo uso/;

/** The credential that a sign-in method uses, if its words say so. */
export function credentialUsedBy(button: ClickableFacts): Pick<ReadChoice, 'uses'> {
  const said = normalize(`${button.text} | ${button.ariaLabel}`);
  if (PASSKEY.test(said)) return { uses: 'passkey' };
  return PASSWORD_INSTEAD.test(said) && !ONE_TIME.test(said) ? { uses: 'password' } : {};
}

/** The type of an alternative to the sign-in method shown, or undefined. */
export function alternativeMethodType(button: ClickableFacts, login: boolean): ReadChoice['type'] | undefined {
  const said = normalize(`${button.text} | ${button.text === button.ariaLabel ? '' : button.ariaLabel}`);
  if (said.length > 100 || FORGOT.test(said) || SIGN_UP.test(said) || NOT_A_METHOD.test(said)) return undefined;
  if (button.region === 'footer' || button.region === 'nav') return undefined;
  if (PASSKEY.test(said)) return 'auth_method';
  if (IDENTIFIER.test(said)) return 'identifier_method';
  // A button that sends a code may be the page's main action; a link leads to an alternative.
  const sends = button.tag === 'a' && SENDS.test(said);
  if (METHOD.test(said) || sends) return login || button.region !== 'header' ? 'sign_in_method' : undefined;
  return undefined;
}
