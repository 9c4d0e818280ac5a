import type { CodeChannel, ReadField } from '../contract/reading.ts';
import { CALL, MAIL } from './mfa-type.ts';
import { anyOf, normalize } from './normalize.ts';

/** Words of a text message. `Message` and `phone` alone do not tell one from a call. */
const SMS = anyOf(
  'sms, text message, text, texted, kurznachricht, mensaje de texto, messaggio di testo, mensagem de texto, tekstbericht',
  'смс, ショートメッセージ, 短信, 簡訊, 문자',
);

/**
 * How the code of a field reaches the person, by the words at the field; null for a field that asks for no code. Words of
 * two channels, or of none, leave it `unknown`: a wrong channel would tell the person to look in the wrong place.
 */
export function codeChannel(type: ReadField['type'], label: string, hint: string | null): CodeChannel | null {
  if (type === 'totp_code') return 'totp';
  if (type !== 'code') return null;
  const said = normalize(`${label} | ${hint ?? ''}`);
  const named: CodeChannel[] = [];
  if (SMS.test(said)) named.push('sms');
  if (CALL.test(said)) named.push('call');
  if (MAIL.test(said) || said.includes('@')) named.push('email');
  return (named.length === 1 ? named[0] : undefined) ?? 'unknown';
}
