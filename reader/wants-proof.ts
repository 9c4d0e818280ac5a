import { anyOf, normalize } from './normalize.ts';
import { CAPTCHA_FIELD } from './words.ts';

/** Words of a site that has refused to look at a login, for nobody has shown it a person. */
const PROOF = anyOf(
  'robot, a bot, you are human, you are a human, are human, human verification, verify you are a person, verification challenge, security check, security challenge, anti-spam, turnstile, tick the box, check the box, checkbox',
  'roboter, ein mensch, sicherheitsprufung, sicherheitsabfrage, un robot, etes humain, es humano, un robot, eres humano, sei umano, robo, humano, robotem, mens bent',
  'робот, ロボット, 人机验证, 人機驗證, 机器人, 機器人, 로봇',
);
/** Words of what was typed. */
const TYPED = anyOf(
  'password, passwords, passcode, passphrase, username, user name, credentials, email, e-mail',
  'passwort, kennwort, benutzername, zugangsdaten, anmeldedaten, wachtwoord, gebruikersnaam, losenord, adgangskode, passord, salasana',
  'mot de passe, identifiant, identifiants, contrasena, usuario, senha, credenciales, credenziali, haslo, heslo, jelszo, sifre',
  'пароль, логин, パスワード, 密码, 密碼, 用户名, 비밀번호, 아이디',
);

/** True of an error about a captcha alone. One that names the password or the user, too, may be about that. */
export function wantsProof(error: string): boolean {
  const said = normalize(error);
  return speaksOfProof(said) && !TYPED.test(said);
}

/** True of words about a captcha. @param said as `normalize` has it. */
export function speaksOfProof(said: string): boolean {
  return PROOF.test(said) || CAPTCHA_FIELD.test(said);
}
