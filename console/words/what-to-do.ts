import type { CanReauthReason } from '../../contract/connections.ts';
import { inLanguage } from './language.ts';

/** What a person can do about a connection that does not log in again automatically, by reason. */
type Advice = Readonly<Partial<Record<CanReauthReason, string>>>;

const EN: Advice = {
  no_prior_successful_login: 'Press “Log in” above: log in yourself, or send the link to the account’s owner.',
  no_credential:
    'Press “Log in” above: log in yourself, or send the link to the account’s owner. With a credential stored in “Settings”, it can log in automatically.',
  no_viable_plans:
    'Press “Log in” above and log in once: Holdfast remembers what worked. If the site moved its login page, change its address in “Settings”.',
  viable_plans_require_external_action: 'Press “Log in” above and confirm on the device when the site asks for it.',
  requires_external_action: 'Press “Log in” above and confirm on the device when the site asks for it.',
  requires_totp_without_secret:
    'Press “Log in” above and enter the code. With the authenticator secret in its credential, it can log in automatically.',
  requires_sms_code:
    'Press “Log in” above and enter the code. “Settings” shows how codes can be received automatically.',
  requires_email_code:
    'Press “Log in” above and enter the code. “Settings” shows how codes can be received automatically.',
  requires_customer_input:
    'The password may have changed. Press “Log in” above and enter the current details, or send the link to the account’s owner.',
};

const DE: Advice = {
  no_prior_successful_login:
    'Drücke oben „Anmelden“: Melde dich selbst an, oder schicke den Link der Person, der das Konto gehört.',
  no_credential:
    'Drücke oben „Anmelden“: Melde dich selbst an, oder schicke den Link der Person, der das Konto gehört. Mit Zugangsdaten, die in den „Einstellungen“ gespeichert sind, meldet sie sich selbst an.',
  no_viable_plans:
    'Drücke oben „Anmelden“ und melde dich einmal an: Der Weg, der geht, wird behalten. Hat die Website eine andere Anmeldeseite, trage sie in den „Einstellungen“ ein.',
  viable_plans_require_external_action:
    'Drücke oben „Anmelden“, und bestätige auf dem Gerät, wenn die Website danach fragt.',
  requires_external_action: 'Drücke oben „Anmelden“, und bestätige auf dem Gerät, wenn die Website danach fragt.',
  requires_totp_without_secret:
    'Drücke oben „Anmelden“ und gib den Code ein. Mit dem Geheimnis des Authenticators in ihren Zugangsdaten meldet sie sich selbst an.',
  requires_sms_code:
    'Drücke oben „Anmelden“ und gib den Code ein. In den „Einstellungen“ steht, wie Codes von selbst kommen.',
  requires_email_code:
    'Drücke oben „Anmelden“ und gib den Code ein. In den „Einstellungen“ steht, wie Codes von selbst kommen.',
  requires_customer_input:
    'Vielleicht wurde das Passwort geändert. Drücke oben „Anmelden“: Die Person, der das Konto gehört, gibt ein, was jetzt gilt. Schicke ihr den Link, oder öffne ihn selbst.',
};

/** What to do, by the reason a person is needed. */
export const advice = inLanguage<Advice>({ en: EN, de: DE });

/** Texts around the advice. */
export const whatToDoWords = inLanguage({
  en: {
    title: 'What to do',
    happened: 'The last login failed',
    waiting:
      'The login page is waiting for an answer from whoever opened the link. If nobody did, or it expired, get a new one with “Link to the login” above.',
    waitingToRead: 'The login page is waiting for an answer from whoever opened the link.',
    ask: 'Ask an operator or owner to log in again.',
    kept: 'What is entered there is stored encrypted, so that Holdfast can log in automatically from then on, if the site allows it.',
    notKept: 'What is entered there is not stored; you can change that in “Settings”.',
    inStore: 'Update the password store with the current details: they are read from it at each login.',
  },
  de: {
    title: 'Was zu tun ist',
    happened: 'Die letzte Anmeldung ist gescheitert',
    waiting:
      'Die Anmeldeseite fragt jetzt etwas. Wer den Link geöffnet hat, antwortet dort. Wurde er nicht oder nicht rechtzeitig geöffnet, gibt „Link zur Anmeldung“ oben einen frischen.',
    waitingToRead: 'Die Anmeldeseite fragt jetzt etwas. Wer den Link geöffnet hat, antwortet dort.',
    ask: 'Bitte eine Person mit der Rolle „arbeitet“ oder „verwaltet“, neu anzumelden.',
    kept: 'Was dort eingegeben wird, bleibt versiegelt gespeichert; danach meldet sie sich selbst an, wo die Website es zulässt.',
    notKept: 'Was dort eingegeben wird, bleibt nicht gespeichert; das ändern die „Einstellungen“.',
    inStore: 'Was jetzt gilt, gehört in den Passwortspeicher, aus dem es bei jeder Anmeldung gelesen wird.',
  },
});
