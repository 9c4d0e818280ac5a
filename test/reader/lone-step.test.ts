import { describe, expect, it } from 'vitest';
import { drawPage } from './drawn-facts.ts';
import { findConfirmButton } from '../../reader/choices/interstitials.ts';
import type { ClickableFacts, FrameSnapshot } from '../../reader/facts.ts';

/** The same page, each of its controls changed. */
function pressing(frames: FrameSnapshot[], change: Partial<ClickableFacts>): FrameSnapshot[] {
  return frames.map(({ path, facts }) => ({
    path,
    facts: { ...facts, clickables: facts.clickables.map((each) => ({ ...each, ...change })) },
  }));
}

const button = (text: string, heading = 'Almost there') => drawPage([{ heading, fields: [], button: text }]);
const link = (href: string) => pressing(button('Continue'), { tag: 'a', type: '', href });

describe('the page behind a mailed link', () => {
  it.each(['Continue', 'Sign in', 'Confirm', 'Click to continue signing in', 'Anmeldung bestätigen', 'Yes, it’s me'])(
    'wants its only button pressed: %s',
    (text) => {
      expect(findConfirmButton(button(text))).toEqual({ selector: '#go-0', targetUrl: 'https://harbour.test/session' });
    },
  );

  it('returns its only link if that has a token', () => {
    const href = 'https://login.other.test/in?t=Zm9vYmFyYmF6cXV4';
    expect(findConfirmButton(link(href))).toEqual({ selector: '#go-0', targetUrl: href });
    expect(findConfirmButton(link('https://harbour.test/login'))).toBeNull();
  });

  it.each([
    ['a field', drawPage([{ heading: 'Almost there', fields: ['code'], button: 'Continue' }])],
    ['two buttons', drawPage(['Continue', 'Cancel'].map((text) => ({ fields: [], button: text })))],
    ['terms to agree to', button('Continue', 'We have updated our Terms of Service')],
    ['an application that asks for access', button('Continue', 'Portal wants to access your account')],
    ['an offer of a passkey', button('Continue', 'Create a passkey')],
    ['a button that says something else', button('Send a new link')],
    ['a button of another document', [...drawPage([]), ...button('Continue')]],
    ['a button of the site’s frame', drawPage([{ fields: [], button: 'Sign in', region: 'header' }])],
  ])('is left alone where it has %s', (_what, frames) => {
    expect(findConfirmButton(frames)).toBeNull();
  });
});
