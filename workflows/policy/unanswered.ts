import { assertNever } from '../../contract/assert-never.ts';
import { asksForCode } from '../../contract/code-fields.ts';
import type { CodeChannel } from '../../contract/reading.ts';
import { isAtVersion } from './credential-version.ts';
import type { AskedField } from './interaction.ts';
import { fail, type Decision, type Situation } from './situation.ts';

/** The error of an unattended flow whose page asks for what the credential cannot answer. */
export function failUnanswered(
  asked: AskedField[],
  situation: Situation,
  rejected: boolean,
  refused: boolean,
): Decision {
  const { last } = situation;
  if (last !== null && !last.certain)
    return fail('browser_error', 'The browser was lost while a credential was entered; start a new login');
  const { credential, reading } = situation.observation;
  if (rejected && reading.wants_proof === true)
    return fail('captcha_blocked', 'The site suspects an automated browser; log in once by hand or use a proxy');
  const hasRefusedCodes = credential?.hasTotpSecret === true && isAtVersion(credential, situation.refusedCodes);
  if (
    (rejected && last?.typed.totp === true) ||
    (hasRefusedCodes && asked.some(({ field }) => field.type === 'totp_code'))
  )
    return fail('totp_code_rejected', 'The site refused the codes of the saved secret; save the right one');
  if ((rejected && last?.typed.password === true) || (refused && asked.some(({ field }) => field.type === 'password')))
    return fail('credentials_invalid', 'The site refused the saved credential; change it or log in once by hand');
  // A code that arrived automatically is not a credential.
  if (rejected && last?.by !== 'person')
    return fail('credentials_invalid', 'The site refused the saved credential; change it or log in once by hand');
  const code = asked.find(({ field }) => asksForCode(field.type))?.field;
  if (code !== undefined) return failForCode(code.type === 'totp_code' ? 'totp' : (code.channel ?? 'unknown'));
  if (asked.some(({ field }) => field.captcha === true))
    return fail('captcha_blocked', 'The site asks for the characters of a picture; log in once by hand');
  return fail('customer_input_required', 'The credential lacks values that the site asks for; add them');
}

/** The error of an unattended flow that needs a code. */
function failForCode(channel: CodeChannel): Decision {
  switch (channel) {
    case 'totp':
      return fail('totp_required', 'The site asks for an authenticator code; save its TOTP secret');
    case 'email':
      return fail('email_code_required', 'The site asks for a code that it sent by email; log in once by hand');
    case 'sms':
      return fail('sms_code_required', 'The site asks for a code that it sent by text message; log in once by hand');
    case 'call':
      return fail(
        'customer_input_required',
        'The site asks for a code that it gives by phone call; log in once by hand',
      );
    case 'unknown':
      return fail('customer_input_required', 'The site asks for a code from an unknown sender; log in once by hand');
    default:
      return assertNever(channel);
  }
}
