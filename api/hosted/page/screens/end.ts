import { acceptReturnUrl, withParams } from '../../return-url.ts';
import type { FlowView } from '../../view.ts';
import { emphasize, h, type Child } from '../dom.ts';
import { heading, type Screen } from '../frame.ts';
import { icon, type IconName } from '../icons.ts';
import { failureText, fill, words } from '../words.ts';
import { siteQuote } from './notices.ts';

/** How long the end is shown before the person is redirected, in milliseconds: failures take longer to read. */
const REDIRECT_AFTER_MS = { success: 2_500, failure: 8_000 } as const;

/** Why a person could not enter, or was signed out. */
export type RejectionReason = 'used' | 'unknown' | 'none' | 'replaced';

/** Final screen of a flow. */
export function endScreen(view: FlowView, announce: (text: string) => void): Screen {
  const { domain } = view;
  if (view.status === 'SUCCESS') {
    const back = returnTarget('successUrl', { profile_name: view.profile_name ?? '', domain });
    return endScreenOf(
      {
        key: 'end:success',
        tone: 'good',
        mark: 'check',
        title: words.successHeading,
        text: emphasize(words.successText, domain),
        say: fill(words.successText, { domain }),
      },
      back ? redirecting(back, REDIRECT_AFTER_MS.success, announce) : h('p', { class: 'after' }, words.closePage),
    );
  }
  const { code, title, text, mark } = describeFailure(view);
  const message = view.error_message ?? fill(text, { domain });
  const back = returnTarget('errorUrl', { code, message });
  return endScreenOf(
    {
      key: `end:${code}`,
      tone: view.status === 'FAILED' ? 'bad' : 'neutral',
      mark,
      title,
      text: emphasize(text, domain),
      say: `${fill(text, { domain })} ${view.status === 'FAILED' ? (view.website_error ?? '') : ''}`,
    },
    view.website_error && view.status === 'FAILED' ? siteQuote(domain, view.website_error) : null,
    back ? redirecting(back, REDIRECT_AFTER_MS.failure, announce) : h('p', { class: 'after' }, words.startAgain),
  );
}

/**
 * Shown if there is no flow. The way back is only offered: this link may be anyone's, so it redirects nobody without showing
 * where.
 */
export function rejectionScreen(why: RejectionReason): Screen {
  const texts = {
    used: { title: words.usedHeading, text: words.usedText, code: 'link_used' },
    unknown: { title: words.unknownHeading, text: words.unknownText, code: 'link_unknown' },
    none: { title: words.noneHeading, text: words.noneText, code: 'session_missing' },
    replaced: { title: words.replacedHeading, text: words.replacedText, code: 'flow_replaced' },
  }[why];
  const back = returnTarget('errorUrl', { code: texts.code, message: texts.text });
  return endScreenOf(
    {
      key: `out:${why}`,
      tone: 'neutral',
      mark: why === 'replaced' ? 'swap' : 'alert',
      title: texts.title,
      text: [texts.text],
      say: texts.text,
    },
    h('p', { class: 'after' }, words.startAgain),
    back && backLink(back),
  );
}

interface Ending {
  key: string;
  tone: 'good' | 'bad' | 'neutral';
  mark: IconName;
  title: string;
  text: Child[];
  say: string;
}

function endScreenOf({ key, tone, mark, title, text, say }: Ending, ...rest: Child[]): Screen {
  const content = h(
    'section',
    { class: `screen end end-${tone}` },
    h('div', { class: 'end-mark' }, icon(mark)),
    heading(title),
    h('p', { class: 'lead' }, ...text),
    ...rest,
  );
  return { key, content, announcement: say, title: `${title} · Holdfast`, site: null };
}

function describeFailure(view: FlowView): { code: string; title: string; text: string; mark: IconName } {
  if (view.status === 'EXPIRED')
    return { code: 'flow_expired', title: words.expiredHeading, text: words.expiredText, mark: 'clock' };
  if (view.status === 'CANCELED')
    return { code: 'flow_canceled', title: words.canceledHeading, text: words.canceledText, mark: 'cross' };
  const text = failureText(view.error_code) ?? words.failure.internal_error;
  return { code: view.error_code ?? 'internal_error', title: words.failedHeading, text, mark: 'alert' };
}

/** The caller's URL with our parameters. Validated again here: the document is not trusted. */
function returnTarget(name: 'successUrl' | 'errorUrl', params: Record<string, string>): string | null {
  const base = acceptReturnUrl(document.documentElement.dataset[name]);
  return base === null ? null : withParams(base, params);
}

function backLink(target: string): HTMLElement {
  const { host } = new URL(target);
  return h('a', { class: 'primary', href: target, rel: 'noreferrer' }, fill(words.returnTo, { host }));
}

/** A link back, and an automatic redirect that the person can cancel. */
function redirecting(target: string, afterMs: number, announce: (text: string) => void): HTMLElement {
  const { host } = new URL(target);
  const note = h('p', { class: 'after' }, fill(words.successReturn, { host }));
  const stay = h('button', { type: 'button', class: 'link-button' }, words.stay);
  const box = h('div', { class: 'leaving' }, note, backLink(target), stay);
  // `replace` keeps this page out of the history: "back" must not lead to a page that redirects again.
  const timer = setTimeout(() => box.isConnected && location.replace(target), afterMs);
  stay.addEventListener('click', () => {
    clearTimeout(timer);
    note.textContent = words.stayed;
    stay.remove();
    announce(words.stayed);
    box.querySelector('a')?.focus();
  });
  return box;
}
