import { expect, it } from 'vitest';
import { findCode } from '../../codes/find-code.ts';

it.each([
  ['Your verification code is 123456', '123456'],
  ['G-482913 is your Google verification code.', '482913'],
  ['482 913 is your Example code. It expires in 10 minutes.', '482913'],
  ['Your code: 482-913', '482913'],
  ['Use 4829 to sign in to Example. Call +1 555 010 9999 if you did not ask for it.', '4829'],
  ['Ihr Bestätigungscode lautet: 730481. Gültig bis 01.03.2026, 14:35 Uhr.', '730481'],
  ['TAN: 918273 für Überweisung von 1.250,00 EUR an Konto endend auf 4711', '918273'],
  ['Votre code de vérification est le 05 83 21', '058321'],
  ['Tu código de verificación es 0421.', '0421'],
  ['Il tuo codice è 554433, valido 5 minuti', '554433'],
  ['Seu código é 7741', '7741'],
  ['Twój kod: 662 118', '662118'],
  ['Ваш код подтверждения: 3951. Никому его не сообщайте', '3951'],
  ['【某网站】您的验证码是482913，5分钟内有效。客服电话400-800-1234', '482913'],
  ['認証コード：１２３４５６（有効期限 2026年3月1日）', '123456'],
  ['[예시] 인증번호 [384756]를 입력해 주세요', '384756'],
  ['رمز التحقق الخاص بك هو ٤٨٢٩١٣', '482913'],
  ['קוד האימות שלך: 77123', '77123'],
  ['आपका ओटीपी ५४३२१० है', '543210'],
  ['Doğrulama kodunuz 114477', '114477'],
  ['© 2026 Example Inc. Your code is 2026 4418', '20264418'],
  ['Your code is 2048', '2048'],
  ['Order no 881245 for $4500. Security code 3310', '3310'],
  ['You paid $1234 with card ending in 9876. Code 55512', '55512'],
  ['Sign in to example.com\n\nA1B2C3\n\nThis code expires soon. © 2025', 'A1B2C3'],
  ['Hello Anna,\n\n  918 273  \n\nExample Ltd, 1200 Main Street, Springfield', '918273'],
  ['Your code is 482913.\n\n@example.com #771204', '771204'],
  ['Code 482913. Wrong? https://example.com/no/991122?x=883311', '482913'],
  ['Your code is 482913. Again: 482913', '482913'],
])('finds the code in %j', (text, code) => {
  expect(findCode(text)).toBe(code);
});

it.each([
  [''],
  ['Your account was opened in 2026.'],
  ['Call us on +49 30 1234567 or 0800 123 45 67.'],
  ['You paid 4500 EUR on 01.03.2026 at 14:35'],
  ['See https://example.com/verify?token=123456'],
  ['Phone ending in 4711, card •••• 1234'],
  ['Backup codes:\n111111\n222222'],
])('finds none in %j', (text) => {
  expect(findCode(text)).toBeNull();
});
