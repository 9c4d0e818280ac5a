import { describe, expect, it } from 'vitest';
import { drawPage } from './drawn-facts.ts';
import { analyzePage } from '../../reader/analyze-page.ts';
import type { FrameSnapshot } from '../../reader/facts.ts';
import { hasUnreadableTotpSecret, markTotpSetup, readTotpSetup } from '../../reader/signs/totp-setup.ts';

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const GROUPS = SECRET.replaceAll(/(.{4})(?=.)/g, '$1 ');
const LINK = `otpauth://totp/Site:ann?secret=${SECRET}&digits=8`;

/** A page with a field for a code, under texts of which each is a heading of its own. */
function offering(...texts: string[]): FrameSnapshot[] {
  return drawPage([
    ...texts.map((heading) => ({ heading, fields: [], button: 'Next' })),
    { heading: 'Authentication code', fields: ['totp_code'], button: 'Verify' },
  ]);
}

describe('the secret of a new authenticator', () => {
  it.each([
    ['in groups', 'Scan the QR code with your authenticator app', `or enter this key: ${GROUPS}`],
    ['in one word', 'Set up your authenticator app', `Setup key ${SECRET}`],
    ['in small letters', 'Google Authenticator', `Manual entry: ${GROUPS.toLowerCase()}`],
    ['in another language', 'Authenticator-App einrichten', `Schlüssel: ${GROUPS}`],
    ['in a link', 'Two-factor authentication', `Open ${LINK}`],
    ['twice, as a link and as text', `Your authenticator app: ${LINK}`, `or enter the key ${GROUPS}`],
  ])('is read %s', (_how, ...texts) => {
    const reading = analyzePage('https://site.example/2fa', offering(...texts)).reading;
    expect(
      readTotpSetup(offering(...texts))
        ?.secret.toUpperCase()
        .replaceAll(' ', ''),
    ).toContain(SECRET);
    expect(reading.enrolment).toBe(true);
    expect(JSON.stringify(reading)).not.toMatch(new RegExp(`${SECRET}|${GROUPS}`, 'i'));
  });

  it.each([
    ['a page that only asks for a code', 'Open your authenticator app and enter the code'],
    ['words in capitals', 'Authenticator app', 'KEY: INTERNATIONALIZATIONS'],
    ['a page about something else', `Your licence key is ${GROUPS}`],
    ['two secrets', 'Authenticator app key', GROUPS, 'MZXW6YTBOI2DGNRVMZXW6YTBOI2DGNRV'],
    ['too short a word', 'Authenticator app key', 'JBSW Y3DP EHPK'],
  ])('is not read off %s', (_what, ...texts) => {
    expect(readTotpSetup(offering(...texts))).toBeNull();
    expect(analyzePage('https://site.example/2fa', offering(...texts)).reading.enrolment).toBeUndefined();
  });

  it('is read from a QR code, unless two codes differ', () => {
    const texts = ['Two-factor authentication', 'Scan the QR code with your authenticator app'];
    const drawn = (...qrCodes: string[]) => offering(...texts).map((frame) => ({ ...frame, qrCodes }));
    expect(hasUnreadableTotpSecret(offering(...texts))).toBe(true);
    expect(hasUnreadableTotpSecret(offering(...texts, `Key: ${GROUPS}`))).toBe(false);
    expect(hasUnreadableTotpSecret(offering('Scan your card'))).toBe(false);
    expect(readTotpSetup(drawn(LINK))?.secret).toBe(LINK);
    expect(analyzePage('https://site.example/2fa', drawn(LINK)).reading.enrolment).toBe(true);
    const other = LINK.replace('JBSW', 'ABSW');
    expect(readTotpSetup(drawn(LINK, other))).toBeNull();
  });

  it('appears in no text of the reading, not even truncated', () => {
    const frames = offering('Authenticator app', `Setup key: ${GROUPS}`);
    const asRead = analyzePage('https://site.example/2fa', frames).reading;
    const hint = `Enter this key in your authenticator app: ${GROUPS.slice(0, 23)}`;
    const fields = asRead.fields.map((field) => ({ ...field, hint, label: GROUPS }));
    const [field] = markTotpSetup({ ...asRead, title: `a ${GROUPS} b`, fields }, frames).fields;
    expect(field).toMatchObject({ hint: 'Enter this key in your authenticator app: •••', label: '•••' });
    expect(markTotpSetup({ ...asRead, fields: [] }, frames).fields).toEqual([]);
  });
});
