import type { FlowErrorCode } from '../../contract/connections.ts';
import { inLanguage } from './language.ts';

type Failures = Readonly<Record<FlowErrorCode, string>>;

const EN: Failures = {
  login_form_not_found: 'No login form was found on the site.',
  domain_not_allowed: 'The site redirected to another site that is not allowed for this connection.',
  stuck_in_loop: 'The site kept asking for the same thing.',
  max_attempts_reached: 'The site did not accept what was entered; stopped before it could lock the account.',
  website_error: 'The site reported a problem.',
  network_error: 'The site could not be reached.',
  element_not_found: 'The login form changed while it was being filled in.',
  credentials_invalid: 'The site rejected the username or password.',
  mfa_required: 'The site asks for a second step that was not completed.',
  external_action_required: 'The site asks for a confirmation that was not given.',
  unsupported_auth_method: 'The site only accepts a passkey, which Holdfast does not have.',
  bot_detected: 'The site rejected the browser because it looks automated.',
  captcha_blocked: 'The site showed a puzzle that nobody solved.',
  session_expired: 'The site closed the login because it took too long.',
  awaiting_input_timeout: 'Nobody entered what the site asked for.',
  external_action_timeout: 'Nobody confirmed the login.',
  max_steps_exceeded: 'The login had more steps than are allowed.',
  browser_error: 'The browser stopped working.',
  internal_error: 'Something went wrong in Holdfast; see its logs.',
  totp_required: 'The site asks for a code from an authenticator app.',
  sms_code_required: 'The site asks for a code sent by SMS.',
  email_code_required: 'The site asks for a code sent by email.',
  account_choice_required: 'The site asks which account to use.',
  customer_input_required: 'The site asks for something that only a person can answer.',
  totp_code_rejected: 'The site rejected the code from the authenticator app.',
  session_not_persistent: 'The site forgets the login as soon as the browser is closed.',
  account_mismatch: 'Someone logged in to a different account than before; nothing was changed.',
  credential_provider_unavailable: 'The password store is not responding.',
  credential_provider_refused: 'The password store denied access.',
  credential_provider_unknown: 'The password store is no longer set up.',
  credential_item_not_found: 'The password store has no entry for this site.',
  credential_item_ambiguous: 'The password store has several entries for this site.',
};

const DE: Failures = {
  login_form_not_found: 'Auf der Website wurde kein Anmeldeformular gefunden.',
  domain_not_allowed: 'Die Website führte zu einer anderen, die für diese Verbindung nicht erlaubt ist.',
  stuck_in_loop: 'Die Website hat immer wieder dasselbe gefragt.',
  max_attempts_reached: 'Die Website nahm die Angaben nicht an; beendet, bevor sie das Konto sperrt.',
  website_error: 'Die Website meldet einen eigenen Fehler.',
  network_error: 'Die Website war nicht zu erreichen.',
  element_not_found: 'Das Anmeldeformular hat sich währenddessen verändert.',
  credentials_invalid: 'Die Website hat Benutzername oder Passwort abgelehnt.',
  mfa_required: 'Die Website verlangt einen zweiten Schritt, der nicht getan wurde.',
  external_action_required: 'Die Website verlangt eine Bestätigung, die nicht kam.',
  unsupported_auth_method: 'Die Website nimmt nur einen Passkey an, den Holdfast nicht hat.',
  bot_detected: 'Die Website hat den Browser abgelehnt, weil er automatisch wirkt.',
  captcha_blocked: 'Die Website zeigte ein Rätsel, das niemand gelöst hat.',
  session_expired: 'Die Website hat die Anmeldung geschlossen, weil sie zu lange dauerte.',
  awaiting_input_timeout: 'Niemand hat eingegeben, was die Website verlangte.',
  external_action_timeout: 'Niemand hat die Anmeldung bestätigt.',
  max_steps_exceeded: 'Die Anmeldung hatte mehr Schritte als erlaubt.',
  browser_error: 'Der Browser ist ausgefallen.',
  internal_error: 'Holdfast hat versagt; die Logs sagen mehr.',
  totp_required: 'Die Website verlangt einen Code aus einer Authenticator-App.',
  sms_code_required: 'Die Website verlangt einen Code per SMS.',
  email_code_required: 'Die Website verlangt einen Code per E-Mail.',
  account_choice_required: 'Die Website fragt, welches Konto es sein soll.',
  customer_input_required: 'Die Website fragt etwas, das nur ein Mensch beantworten kann.',
  totp_code_rejected: 'Die Website hat den Code der Authenticator-App abgelehnt.',
  session_not_persistent: 'Die Website vergisst die Anmeldung, sobald der Browser geschlossen ist.',
  account_mismatch: 'Jemand hat sich bei einem anderen Konto angemeldet als bisher; nichts wurde geändert.',
  credential_provider_unavailable: 'Der Passwortspeicher antwortet nicht.',
  credential_provider_refused: 'Der Passwortspeicher verweigert den Zugriff.',
  credential_provider_unknown: 'Der Passwortspeicher ist nicht mehr eingerichtet.',
  credential_item_not_found: 'Der Passwortspeicher hat keinen Eintrag für diese Website.',
  credential_item_ambiguous: 'Der Passwortspeicher hat mehrere Einträge für diese Website.',
};

const texts: Readonly<Record<string, string>> = inLanguage<Failures>({ en: EN, de: DE });

/** Why a login failed, in words; the API's own message if the code is unknown. */
export function loginFailureText(code: string | undefined, message: string | undefined): string | null {
  return (code === undefined ? undefined : texts[code]) ?? message ?? null;
}
