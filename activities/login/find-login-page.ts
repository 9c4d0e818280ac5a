import type { Page } from 'playwright-core';
import type { LoginTarget } from '../../contract/activities.ts';
import type { FormChoice, PageReading } from '../../contract/reading.ts';
import { portOf } from '../../egress/guard.ts';
import { type EgressPolicy, isListedHost } from '../../egress/policy.ts';
import { readSignInLinks } from '../../reader/signs/sign-in-links.ts';
import { isEmptyFieldComplaint } from '../../reader/signs/website-error.ts';
import type { LoginDeps } from './deps.ts';
import { goTo, readLogin } from './reading/read-login.ts';
import { collectFrames } from './reading/frames.ts';
import type { ReadPreferences } from './reading/read-page.ts';
import { settle } from './reading/settle.ts';

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

/** Kinds of pages that end the search: the login continues from them, or fails for a known reason. */
const FINAL_KINDS = new Set<PageReading['kind']>([
  'form',
  'choice',
  'logged_in',
  'passkey',
  'captcha',
  'external_action',
  'password_change',
  'http_login',
]);

/** Kinds that a page which only links to several ways of signing in may be read as. */
const OFFER_KINDS = new Set<PageReading['kind']>(['choice', 'passkey', 'external_action']);

/**
 * Navigates to the site's login form: `login_url`, else the home page, its sign-in link, and common paths. Returns the first page
 * that asks for a login or is already signed in; else the last page read. If a person has rejected the form found there, the
 * site's other sign-in links are tried; if none is left, the first form is returned again.
 */
export async function findLoginPage(
  page: Page,
  target: LoginTarget,
  { egress, model }: Pick<LoginDeps, 'egress' | 'model'>,
): Promise<PageReading> {
  const preferences = { chosen: target.forms, model };
  const found = await findFirstLogin(page, target, egress, preferences);
  if (!isPassedOver(found, target.forms)) return asUntouched(found);
  const start = target.loginUrl ?? homeUrl(target.domain, egress);
  const another = await findOtherLogin(page, [page.url(), start], preferences);
  return asUntouched(another ?? (await findFirstLogin(page, target, egress, preferences)));
}

/** The reading of a page that nothing was entered into: some complain of their empty fields at once. */
function asUntouched(reading: PageReading): PageReading {
  const { website_error: error } = reading;
  return error !== null && isEmptyFieldComplaint(error) ? { ...reading, website_error: null } : reading;
}

async function findFirstLogin(
  page: Page,
  target: LoginTarget,
  egress: EgressPolicy,
  preferences: ReadPreferences,
): Promise<PageReading> {
  const { loginUrl, forms } = target;
  if (loginUrl !== null) {
    await goTo(page, loginUrl);
    return await openLoginForm(page, await readLogin(page, preferences), preferences);
  }
  const home = homeUrl(target.domain, egress);
  await goTo(page, home);
  const first = await readLogin(page, preferences);
  // A home page may offer many ways to sign in; its own sign-in link comes first.
  const prefersLink = (OFFER_KINDS.has(first.kind) || isPassedOver(first, forms)) && first.sign_in_link !== null;
  if (FINAL_KINDS.has(first.kind) && !prefersLink) return first;
  const reached = first.sign_in_link === null ? null : await followSignInLink(page, first.sign_in_link, preferences);
  if (reached !== null && FINAL_KINDS.has(reached.kind)) return reached;
  if (first.kind === 'unavailable' || first.kind === 'blocked') return first;
  for (const path of COMMON_PATHS) {
    if (!(await goTo(page, new URL(path, home).href))) continue;
    const reading = await readLogin(page, preferences);
    if (FINAL_KINDS.has(reading.kind)) return reading;
  }
  return reached ?? first;
}

/** Whether a person has rejected every form of a page. */
function isPassedOver({ forms: [first] = [] }: PageReading, chosen: FormChoice | undefined): boolean {
  return first !== undefined && first !== chosen?.taken && chosen?.passedOver.includes(first) === true;
}

const MAX_LINKS = 4;

/** Follows the other sign-in links of some pages to the first login that has not been rejected. */
async function findOtherLogin(
  page: Page,
  from: readonly string[],
  preferences: ReadPreferences,
): Promise<PageReading | null> {
  const tried = new Set<string>(from);
  for (const address of new Set(from)) {
    await goTo(page, address);
    await settle(page);
    const links = readSignInLinks(await collectFrames(page)).filter(({ href }) => href === null || !tried.has(href));
    for (const link of links.slice(0, MAX_LINKS)) {
      if (link.href !== null) tried.add(link.href);
      else if (page.url() !== address) await goTo(page, address);
      const reading = await followSignInLink(page, link, preferences);
      if (FINAL_KINDS.has(reading.kind) && !isPassedOver(reading, preferences.chosen)) return reading;
    }
  }
  return null;
}

/** Follows the sign-in control of a page that shows no login, to a dialog or another page. Returns `reading` if that finds none. */
export async function openLoginForm(
  page: Page,
  reading: PageReading,
  preferences?: ReadPreferences,
): Promise<PageReading> {
  if (reading.kind !== 'other' || reading.sign_in_link === null) return reading;
  const reached = await followSignInLink(page, reading.sign_in_link, preferences);
  return FINAL_KINDS.has(reached.kind) ? reached : reading;
}

/** The site's home page: https, or http for a private host listed by the operator. */
export function homeUrl(domain: string, egress: EgressPolicy): string {
  const plain = new URL(`http://${domain}/`);
  return isListedHost(egress, plain.hostname, portOf(plain)) ? plain.href : `https://${domain}/`;
}

/** Follows a page's sign-in link, or presses the button that opens its form, and reads the result: the popup, if one opened. */
export async function followSignInLink(
  page: Page,
  { href, selector }: NonNullable<PageReading['sign_in_link']>,
  preferences?: ReadPreferences,
): Promise<PageReading> {
  const opened: Page[] = [];
  page.once('popup', (window) => opened.push(window));
  if (href !== null && /^https?:/.test(href)) await goTo(page, href);
  else await page.click(selector, { timeout: 5000 }).catch(() => undefined);
  const reading = await readLogin(page, preferences);
  const [window] = opened;
  return window === undefined || window.isClosed() ? reading : await readLogin(window, preferences);
}
