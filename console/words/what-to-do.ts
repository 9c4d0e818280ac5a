import type { CanReauthReason } from '../../contract/connections.ts';
import { inLanguage } from './language.ts';

/** What a person does about a connection that does not log in again by itself, by why it does not. */
type Advice = Readonly<Partial<Record<CanReauthReason, string>>>;

const EN: Advice = {
  no_prior_successful_login: 'Press “Log in” above: log in yourself, or send the link to whom the account belongs.',
  no_credential:
    'Press “Log in” above: log in yourself, or send the link to whom the account belongs. A credential that is stored in “Settings” lets it log in by itself.',
  no_viable_plans:
    'Press “Log in” above and log in once: the way that works is kept. If the site has moved its login page, say so in “Settings”.',
  viable_plans_require_external_action: 'Press “Log in” above, and confirm on the device when the site asks for it.',
  requires_external_action: 'Press “Log in” above, and confirm on the device when the site asks for it.',
  requires_totp_without_secret:
    'Press “Log in” above and enter the code. With the authenticator’s secret in its credential it logs in by itself.',
  requires_sms_code: 'Press “Log in” above and enter the code. “Settings” says how codes can come by themselves.',
  requires_email_code: 'Press “Log in” above and enter the code. “Settings” says how codes can come by themselves.',
  requires_customer_input:
    'Perhaps the password was changed. Press “Log in” above: whoever the account belongs to enters what is valid now. Send them the link, or open it yourself.',
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

/** What a person does, by why they are needed. */
export const advice = inLanguage<Advice>({ en: EN, de: DE });

/** Words beside that. */
export const whatToDoWords = inLanguage({
  en: {
    title: 'What to do',
    happened: 'The last login failed',
    waiting:
      'The login page asks for something now. Whoever has opened the link answers there. If it was not opened, or not in time, “Link to the login” above gives a fresh one.',
    waitingToRead: 'The login page asks for something now. Whoever has opened the link answers there.',
    ask: 'Ask somebody with the role operator or owner to log in again.',
    kept: 'What is entered there is kept, sealed, and from then on it logs in by itself where the site lets it.',
    notKept: 'What is entered there is not kept; “Settings” changes that.',
    inStore: 'What is valid now belongs in the password store, from which it is read at each login.',
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
