import { anyOf } from './normalize.ts';

/** A code that an app on the person's device makes. */
export const AUTHENTICATOR = anyOf(
  'authenticator, authenticator app, authentication app, authenticator application, google authenticator, totp',
  'two factor app, 2fa app, authy, code generator, security app, otp app, mobile app, authentication application',
  'authentifizierungs app, authenticator app, authentifizierungsapp, app d authentification, application d authentification',
  'aplicacion de autenticacion, app de autenticacion, app di autenticazione, aplicativo autenticador, autenticador',
  'autentiseringsapp, aplikacji uwierzytelniajacej, kimlik dogrulama uygulamasi, authenticatie app',
  'приложени* для аутентификации, приложения-аутентификатора, аутентификатор, 認証アプリ, 認証システム, 身份验证器, 驗證器, 인증 앱, 인증기',
);

/** A code that was sent somewhere. */
export const MESSAGED = anyOf(
  'sms, text message, texted, sent, we sent, sent to, we emailed, emailed, check your phone, check your email, via email, by email',
  'text a code, your inbox, code to your email, code to your phone, sent you, we have sent, just sent, message to, phone call, called you',
  'gesendet, geschickt, per sms, per e mail, verzonden, gestuurd, skickat, skickade, sendt, lahetetty',
  'envoye, envoyee, par sms, par e mail, enviado, enviamos, hemos enviado, por sms, inviato, abbiamo inviato, via sms',
  'wyslalismy, wyslany, odeslali, elkuldtuk, gonderdik, gonderilen, gonderildi, da gui, dikirim',
  'отправили, отправлен, смс, надіслали, 送信しました, お送りしました, 送信された, ショートメッセージ, 已发送, 發送, 短信, 簡訊, 전송했습니다, 보냈습니다, 문자',
);

/** Words that make a page one about a second factor. */
export const SECOND_FACTOR = anyOf(
  'two factor, 2 factor, 2fa, two step, 2 step, 2 step verification, two step verification, multi factor, mfa, multifactor',
  "verify it's you, verify it is you, verify your identity, confirm your identity, verification method, authentication method, security check",
  'how do you want to receive, how do you want to get, how would you like to get, how would you like to receive, how would you like to verify, choose a method, choose a way, select a method, another way to verify, identity verification, additional verification',
  'zwei faktor, zweistufig*, bestatigen sie ihre identitat, identitat bestatigen, tweestaps*, twee factor, tvafaktors*, tvastegs*, totrinns*, to faktor',
  'deux facteurs, double authentification, deux etapes, validation en deux etapes, verifiez votre identite, dos factores, dos pasos, verifica tu identidad, verificacion en dos pasos, due fattori, due passaggi, verifica la tua identita',
  'dois fatores, duas etapas, verificacao em duas etapas, dwuetapow*, dwuskladnikow*, dvoufazov*, iki adimli, iki faktorlu, kimliginizi dogrulayin',
  'двухфакторн, двухэтапн, подтвердите свою личность, подтвердите, 二段階, 2段階, 二要素, 多要素, 本人確認, 两步验证, 双重验证, 两步, 二次验证, 身份验证, 兩步驟, 2단계, 이중 인증, 본인 확인',
);
