import type { Page } from 'playwright-core';
import type { LoginTarget } from '../../contract/activities.ts';
import type { FormChoice, PageReading } from '../../contract/reading.ts';
import { type EgressPolicy, isListedHost } from '../../egress/policy.ts';
import { readSignInLinks } from '../../reader/sign-in-link.ts';
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
const OFFER_KINDS = new Set<PageReading['kind']>(['choice', 'passkey', 'external_action']);

/**
 * Leads the page to the site's login form: `login_url`, else the home page, its sign-in link, and the common paths.
 * Answers the first page that asks for a login or shows that there is one already; else the last that was seen. Where a
 * person has passed over what it finds, the site's other entrances are tried; after the last, the first is answered again.
 */
export async function findLoginPage(
  page: Page,
  target: LoginTarget,
  { egress, model }: Pick<LoginDeps, 'egress' | 'model'>,
): Promise<PageReading> {
  const judgement = { chosen: target.forms, model };
  const found = await findFirstLogin(page, target, egress, judgement);
  if (!isPassedOver(found, target.forms)) return found;
  const start = target.loginUrl ?? homeUrl(target.domain, egress);
  const another = await findOtherLogin(page, [page.url(), start], judgement);
  return another ?? (await findFirstLogin(page, target, egress, judgement));
}

async function findFirstLogin(
  page: Page,
  target: LoginTarget,
  egress: EgressPolicy,
  judgement: ReadPreferences,
): Promise<PageReading> {
  const { loginUrl, forms } = target;
  if (loginUrl !== null) {
    await goTo(page, loginUrl);
    return await openLoginForm(page, await readLogin(page, judgement), judgement);
  }
  const home = homeUrl(target.domain, egress);
  await goTo(page, home);
  const first = await readLogin(page, judgement);
  // A home page may speak of many ways in; the one that it calls its sign-in comes first.
  const leadsOn = (OFFER_KINDS.has(first.kind) || isPassedOver(first, forms)) && first.sign_in_link !== null;
  if (TELLING.has(first.kind) && !leadsOn) return first;
  const reached = first.sign_in_link === null ? null : await followSignInLink(page, first.sign_in_link, judgement);
  if (reached !== null && TELLING.has(reached.kind)) return reached;
  if (first.kind === 'unavailable' || first.kind === 'blocked') return first;
  for (const path of COMMON_PATHS) {
    if (!(await goTo(page, new URL(path, home).href))) continue;
    const reading = await readLogin(page, judgement);
    if (TELLING.has(reading.kind)) return reading;
  }
  return reached ?? first;
}

/** True for a page whose every form a person has called the wrong one. */
function isPassedOver({ forms: [first] = [] }: PageReading, chosen: FormChoice | undefined): boolean {
  return first !== undefined && first !== chosen?.taken && chosen?.passedOver.includes(first) === true;
}

/** So many entrances of one page are tried. */
const MAX_ENTRANCES = 4;

/** What the other sign-in controls of some pages lead to: the first that asks for a login which nobody has passed over. */
async function findOtherLogin(
  page: Page,
  from: readonly string[],
  judgement: ReadPreferences,
): Promise<PageReading | null> {
  const tried = new Set<string>(from);
  for (const address of new Set(from)) {
    await goTo(page, address);
    await settle(page);
    const entrances = readSignInLinks(await collectFrames(page)).filter(
      ({ href }) => href === null || !tried.has(href),
    );
    for (const entrance of entrances.slice(0, MAX_ENTRANCES)) {
      if (entrance.href !== null) tried.add(entrance.href);
      else if (page.url() !== address) await goTo(page, address);
      const reading = await followSignInLink(page, entrance, judgement);
      if (TELLING.has(reading.kind) && !isPassedOver(reading, judgement.chosen)) return reading;
    }
  }
  return null;
}

/**
 * What a page that should ask for a login shows when its own sign-in control is pressed: a form in a window over the page,
 * or another page. The reading as it was where there is none, or it leads to nothing that asks.
 */
export async function openLoginForm(
  page: Page,
  reading: PageReading,
  judgement?: ReadPreferences,
): Promise<PageReading> {
  if (reading.kind !== 'other' || reading.sign_in_link === null) return reading;
  const reached = await followSignInLink(page, reading.sign_in_link, judgement);
  return TELLING.has(reached.kind) ? reached : reading;
}

/** The site's home page: https, or http when the host is a private one that the operator listed. */
export function homeUrl(domain: string, egress: EgressPolicy): string {
  const plain = new URL(`http://${domain}/`);
  const port = plain.port === '' ? 80 : Number(plain.port);
  return isListedHost(egress, plain.hostname, port) ? plain.href : `https://${domain}/`;
}

/**
 * Goes where a page's sign-in link leads, or presses the button that opens the form, and reads what is there: the window that the
 * button has opened, where there is one.
 */
export async function followSignInLink(
  page: Page,
  { href, selector }: NonNullable<PageReading['sign_in_link']>,
  judgement?: ReadPreferences,
): Promise<PageReading> {
  const opened: Page[] = [];
  page.once('popup', (window) => opened.push(window));
  if (href !== null && /^https?:/.test(href)) await goTo(page, href);
  else await page.click(selector, { timeout: 5000 }).catch(() => undefined);
  const reading = await readLogin(page, judgement);
  const [window] = opened;
  return window === undefined || window.isClosed() ? reading : await readLogin(window, judgement);
}
