import type { ClickableFacts } from '../facts.ts';
import { identifierWords, normalize } from '../text/normalize.ts';
import { CONTINUE, FORGOT, SIGN_IN, SIGN_UP } from '../text/words.ts';

const HELPER =
  /(^| )(toggle|show|hide|eye|reveal|visibility|clear|captcha|refresh|keyboard|keypad)( |$)|(get|send|resend|request) (the |a |me )?(sms )?code|virtual keyboard|获取|发送|取得|發送|인증번호 ?(받기|전송|요청)|получить код/;

/** True for a visible control that may submit fields: a button, or an element that looks and reads like one. */
export function isSendButton(button: ClickableFacts): boolean {
  if (!button.visible || button.region === 'consent') return false;
  if (['radio', 'reset'].includes(button.type) || ['tab', 'option', 'radio', 'menuitem'].includes(button.role))
    return false;
  const said = buttonWords(button);
  if (isHelperButton(button, said)) return false;
  if (button.type === 'submit' || button.type === 'image') return true;
  if (isLink(button)) return !navigatesAway(button) && saysToContinue(said);
  return button.tag === 'button' || button.tag === 'input'
    ? said !== '' || button.classes !== ''
    : saysToContinue(said);
}

/** True for a button that continues the login rather than working on the field next to it. */
export function isContinueButton(button: ClickableFacts): boolean {
  return saysToContinue(buttonWords(button));
}

/** True for a button that works on a field or does something other than submitting. */
export function isHelperButton(button: ClickableFacts, said: string): boolean {
  if (FORGOT.test(said) || HELPER.test(said)) return true;
  const named = identifierWords(button.id, button.name, button.classes);
  return HELPER.test(named) && !SIGN_IN.test(said) && !CONTINUE.test(said);
}

function saysToContinue(said: string): boolean {
  return SIGN_IN.test(said) || CONTINUE.test(said) || SIGN_UP.test(said);
}

/** The text and accessible name of a button, normalized. */
export function buttonWords(button: ClickableFacts): string {
  return normalize(button.text === button.ariaLabel ? button.text : `${button.text} | ${button.ariaLabel}`).replace(
    /^\| | \|$/,
    '',
  );
}

/** True for a link that is not marked up as a button. */
export function isLink(button: ClickableFacts): boolean {
  return button.tag === 'a' && button.role !== 'button';
}

/** True for a link to another page; `#` and `javascript:` links act as buttons. */
export function navigatesAway({ href }: ClickableFacts): boolean {
  return href !== '' && !href.startsWith('#') && !href.toLowerCase().startsWith('javascript:');
}
