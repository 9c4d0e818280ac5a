import type { Page } from 'playwright-core';
import type { LoginTarget } from '../../contract/activities.ts';
import type { PageReading } from '../../contract/reading.ts';
import type { EgressPolicy } from '../../egress/policy.ts';
import { goTo, readLogin } from './read-login.ts';
import { isListedHost } from '../../egress/policy.ts';

/** Where sites usually keep their login page, most common first. */
const COMMON_PATHS = [
  '/login',
  '/signin',
  '/sign-in',
  '/sign_in',
  '/users/sign_in',
  '/account/login',
  '/accounts/login/',
  '/user/login',
  '/auth/login',
  '/admin/login/',
  '/wp-login.php',
];

/** Kinds of pages that end the search: the login goes on from them, or says why it cannot. */
const TELLING = new Set<PageReading['kind']>([
  'form',
  'choice',
  'logged_in',
  'passkey',
  'captcha',
  'external_action',
  'password_change',
  'http_login',
]);

/** Kinds that a page which only links to logins of several kinds may be taken for. */
const MERE_OFFERS = new Set<PageReading['kind']>(['choice', 'passkey', 'external_action']);

/**
 * Leads the page to the site's login form: `login_url`, else the home page, its sign-in link, and the common paths.
 * Answers the first page that asks for a login or shows that there is one already; else the last that was seen.
 */
export async function findLoginPage(page: Page, target: LoginTarget, egress: EgressPolicy): Promise<PageReading> {
  if (target.loginUrl !== null) {
    await goTo(page, target.loginUrl);
    return await openForm(page, await readLogin(page));
  }
  const home = homeUrl(target.domain, egress);
  await goTo(page, home);
  const first = await readLogin(page);
  // A home page may speak of many ways in; the one that it calls its sign-in comes first.
  const leadsOn = MERE_OFFERS.has(first.kind) && first.sign_in_link !== null;
  if (TELLING.has(first.kind) && !leadsOn) return first;
  const reached = first.sign_in_link === null ? null : await followSignInLink(page, first);
  if (reached !== null && TELLING.has(reached.kind)) return reached;
  if (first.kind === 'unavailable' || first.kind === 'blocked') return first;
  for (const path of COMMON_PATHS) {
    if (!(await goTo(page, new URL(path, home).href))) continue;
    const reading = await readLogin(page);
    if (TELLING.has(reading.kind)) return reading;
  }
  return reached ?? first;
}

/**
 * What a page that should ask for a login shows when its own sign-in control is pressed: a form in a window over the page,
 * or another page. The reading as it was where there is none, or it leads to nothing that asks.
 */
export async function openForm(page: Page, reading: PageReading): Promise<PageReading> {
  if (reading.kind !== 'other' || reading.sign_in_link === null) return reading;
  const reached = await followSignInLink(page, reading);
  return TELLING.has(reached.kind) ? reached : reading;
}

/** The site's home page: https, or http when the host is a private one that the operator listed. */
export function homeUrl(domain: string, egress: EgressPolicy): string {
  const plain = new URL(`http://${domain}/`);
  const port = plain.port === '' ? 80 : Number(plain.port);
  return isListedHost(egress, plain.hostname, port) ? plain.href : `https://${domain}/`;
}

/** Goes where a page's sign-in link leads, or presses the button that opens the form, and reads what is there. */
export async function followSignInLink(page: Page, reading: PageReading): Promise<PageReading> {
  const { href, selector } = reading.sign_in_link ?? { href: null, selector: null };
  if (href !== null && /^https?:/.test(href)) await goTo(page, href);
  else if (selector !== null) await page.click(selector, { timeout: 5000 }).catch(() => undefined);
  return await readLogin(page);
}
