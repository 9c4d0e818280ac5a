import { expect, it } from 'vitest';
import { detectLockout } from '../../reader/signs/lockout.ts';

/** What sites say when they let nobody in for a while, and when they have locked an account. */
const SAID: readonly (readonly [language: string, tooMany: string, locked: string])[] = [
  ['English', 'Too many login attempts. Please try again in 15 minutes.', 'Your account has been locked.'],
  ['German', 'Zu viele fehlgeschlagene Anmeldeversuche.', 'Ihr Konto wurde vorübergehend gesperrt.'],
  ['Dutch', 'Te veel mislukte inlogpogingen.', 'Uw account is geblokkeerd.'],
  ['Swedish', 'För många inloggningsförsök. Försök igen senare.', 'Ditt konto har låsts.'],
  ['French', 'Trop de tentatives de connexion.', 'Votre compte a été bloqué.'],
  ['Spanish', 'Demasiados intentos fallidos.', 'Su cuenta ha sido bloqueada.'],
  ['Italian', 'Troppi tentativi di accesso.', 'Il tuo account è stato bloccato.'],
  ['Portuguese', 'Muitas tentativas de login.', 'Sua conta foi bloqueada.'],
  ['Polish', 'Zbyt wiele nieudanych prób logowania.', 'Twoje konto zostało zablokowane.'],
  ['Czech', 'Příliš mnoho pokusů o přihlášení.', 'Váš účet byl zablokován.'],
  ['Turkish', 'Çok fazla başarısız deneme yaptınız.', 'Hesabınız kilitlendi.'],
  ['Russian', 'Слишком много попыток входа.', 'Ваша учётная запись заблокирована.'],
  ['Ukrainian', 'Забагато спроб входу.', 'Ваш обліковий запис заблоковано.'],
  ['Japanese', 'ログインの試行回数が上限に達しました。', 'アカウントがロックされました。'],
  ['Chinese', '登录尝试次数过多，请稍后再试。', '您的账号已被锁定。'],
  ['Chinese (traditional)', '登入嘗試次數過多。', '您的帳戶已被鎖定。'],
  ['Korean', '로그인 시도 횟수를 초과했습니다.', '계정이 잠겼습니다.'],
  ['Arabic', 'محاولات كثيرة جدًا. حاول مرة أخرى لاحقًا.', 'تم قفل حسابك.'],
  ['Hebrew', 'יותר מדי ניסיונות התחברות.', 'החשבון שלך ננעל.'],
];

it.each(SAID)('detects lockout messages in %s', (_language, tooMany, locked) => {
  expect(detectLockout([tooMany])).toBe('rate_limited');
  expect(detectLockout([locked])).toBe('account_locked');
});

it.each([
  'Wrong password. 3 attempts left.',
  'Lock your account to protect it.',
  'If your account is locked, contact support.',
  'Something went wrong. Please try again later.',
  'You can request a new code. Try again in 30 seconds.',
  'Forgot your password?',
  'Incorrect user name or password or account is temporarily blocked.',
  'Login failed: wrong password or the account is locked.',
  'Your account is disabled or the password is wrong.',
  'Onjuist wachtwoord of uw account is geblokkeerd.',
  'Falsches Passwort oder Ihr Konto ist gesperrt.',
  'Contraseña incorrecta o cuenta bloqueada.',
  'Неверный пароль или учётная запись заблокирована.',
  '密码错误或账号已被锁定。',
  'パスワードが正しくないか、またはアカウントがロックされています。',
])('takes "%s" for no lock-out', (text) => {
  expect(detectLockout([text])).toBeUndefined();
});

it.each([
  'Your account has been locked or suspended.',
  'Login failed because of a locked account.',
  'Your account has been locked after several incorrect or failed attempts.',
])('takes "%s" for a lock-out', (text) => {
  expect(detectLockout([text])).toBe('account_locked');
});
