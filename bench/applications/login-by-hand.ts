import type { Page } from 'playwright-core';
import type { Account } from './application.ts';

export { authenticatorCode } from '../../test/e2e/authenticator.ts';

/**
 * Opens `url`, fills in its login form and submits it: by a click on `submit`, otherwise by Enter in the
 * password field. `identifier` is null for a form with only a password.
 */
export async function fillLoginForm(
  page: Page,
  url: string,
  account: Account,
  [identifier, password, submit]: readonly [identifier: string | null, password: string, submit?: string],
): Promise<void> {
  await page.goto(url);
  if (identifier !== null) await page.fill(identifier, account.identifier);
  await page.fill(password, account.password);
  if (submit === undefined) await page.press(password, 'Enter');
  else await page.click(submit);
}
