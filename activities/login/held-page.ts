import type { Frame, Page, Route } from 'playwright-core';
import { navigatedBy } from './reading/traffic.ts';

/** A page that stays where it is while it is filled in. */
export interface HeldPage {
  /** From here on the form is being sent, and may lead anywhere. */
  letGo(): void;
  /** True once a form was kept from taking what was typed to where it may not go. */
  hasRefused(): boolean;
  /** Ends it: nothing is judged any more. Repeating it does nothing. */
  end(): Promise<void>;
}

/** What to hold a page by. */
export interface HoldOptions {
  /** Frames whose documents, and those around them, stay until the form is sent. */
  frames: readonly Frame[];
  /** Spellings of what is typed: a navigation that carries one of them is judged. */
  secrets: readonly string[];
  /** Whether a form may take them to an address. */
  mayCarryTo: (url: string) => boolean;
}

/**
 * Holds the documents that are typed into: between the look at a document's address and the last key another one could come in its
 * place, and have the rest. A page that wants to go elsewhere meanwhile stays as it is. A form that would take a secret to where it may
 * not go is not sent at all.
 */
export async function holdPage(page: Page, { frames, secrets, mayCarryTo }: HoldOptions): Promise<HeldPage> {
  const held = new Set<Frame>(frames.flatMap(withAround));
  let hasRefused = false;
  let hasEnded = false;
  const judge = async (route: Route): Promise<void> => {
    const request = route.request();
    const frame = navigatedBy(request);
    const sent = frame === null ? '' : `${request.url()}\n${request.postData() ?? ''}`;
    const isRefused = secrets.some((secret) => sent.includes(secret)) && !mayCarryTo(request.url());
    hasRefused ||= isRefused;
    // Not as a fault: the page stays as it is.
    if (isRefused || (frame !== null && held.has(frame))) await route.abort('aborted');
    else await route.fallback();
  };
  await page.route('**/*', judge);
  return {
    letGo: () => {
      held.clear();
    },
    hasRefused: () => hasRefused,
    end: async () => {
      if (hasEnded) return;
      hasEnded = true;
      await page.unroute('**/*', judge).catch(() => undefined);
    },
  };
}

function withAround(frame: Frame): Frame[] {
  const around = frame.parentFrame();
  return around === null ? [frame] : [frame, ...withAround(around)];
}
