import type { PageReading } from '../contract/reading.ts';
import type { ClickableFacts } from './facts.ts';
import type { SeenFrame } from './clusters.ts';
import { identifierWords, normalize } from './normalize.ts';
import { FORGOT, SIGN_IN, SIGN_UP } from './words.ts';

/** The link or button that most likely leads to the login page, or null. Folded menus count, after what can be seen. */
export function readSignInLink(frames: readonly SeenFrame[]): PageReading['sign_in_link'] {
  const [top] = frames;
  if (!top) return null;
  let best: { button: ClickableFacts; points: number } | undefined;
  for (const button of top.facts.clickables) {
    const points = rate(button);
    if (points >= 4 && (!best || points > best.points)) best = { button, points };
  }
  return best ? { selector: best.button.selector, href: absolute(best.button.href, top.facts.url) } : null;
}

function rate(button: ClickableFacts): number {
  const said = normalize(button.text || button.ariaLabel || button.title);
  const address = addressWords(button.href);
  let points = 0;
  if (said.length <= 40 && SIGN_IN.test(said)) points += said.length <= 20 ? 6 : 4;
  else if (/^(my |mein |mon |mi |il mio )?(account|konto|compte|cuenta|profile|マイページ|我的账户)$/.test(said))
    points += 3;
  if (
    /(^| )(login|log in|signin|sign in|sign on|logon|sso|auth|anmelden|connexion|einloggen|session new|sessions new|accedi|entrar|giris)( |$)/.test(
      address,
    )
  )
    points += 3;
  if (points === 0) return 0;
  if (/oauth|google|facebook|github|twitter|apple|saml/.test(`${said} ${address}`)) points -= 4;
  if (SIGN_UP.test(said) && !SIGN_IN.test(said)) points -= 8;
  if (FORGOT.test(said) || /password|reset|forgot/.test(address)) points -= 8;
  if (/\/(blog|docs|help|support|article|news)\//.test(button.href)) points -= 5;
  if (button.region === 'header' || button.region === 'nav') points += 1;
  if (button.region === 'footer') points -= 1;
  if (button.region === 'consent') points -= 10;
  if (button.inText) points -= 1;
  // What nobody sees is pressed only where it says plainly what it is.
  if (!button.visible) points -= 3;
  // Settings of an account link to how one signs in to it; `Signing in` names that topic, it asks nobody to.
  if (/\/(settings|preferences|profile|admin|[a-z-]*security)\//i.test(`${button.href}/`)) points -= 6;
  if (/^(signing|logging) in$/.test(said)) points -= 3;
  if (button.tag !== 'a' && button.href === '') points -= 1;
  return points;
}

function addressWords(href: string): string {
  return identifierWords(href.replace(/^https?:\/\//, '').slice(0, 200));
}

/** Absolute web address of a link; null for one that only runs a script. */
function absolute(href: string, base: string): string | null {
  if (href === '' || href.startsWith('#')) return null;
  try {
    const url = new URL(href, base);
    return ['http:', 'https:', 'file:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
