import { inLanguage } from './language.ts';

/** Texts about providers that forward one-time codes. */
export const codeSourceWords = inLanguage({
  en: {
    title: 'Code sources',
    text: 'Providers that receive texts and emails with one-time codes and post them to Holdfast. One serves all connections of a project; each connection’s phone number or email address is in its settings.',
    smtp: 'If Holdfast’s own mail port is open, emails need no provider.',
    provider: 'Provider',
    url: 'Webhook address',
    since: 'Added',
    add: 'Add a provider',
    added: 'The provider was added. Configure the listed address there.',
    emptyTitle: 'No code sources yet',
    emptyText:
      'Without one, someone has to enter the codes that sites send. Add a provider, then configure the address shown here.',
    twilio: 'Twilio (texts)',
    mailgun: 'Mailgun (emails)',
    secret: 'Secret',
    secretHint: 'Twilio: the auth token; Mailgun: the webhook signing key. Stored encrypted and never shown again.',
    copy: 'Copy the address',
    copied: 'The address was copied.',
    removeTitle: 'Delete this provider?',
    removeText:
      'What it posts from now on is rejected. To change the secret, delete it and add it again; the address changes too.',
    removed: 'The provider was deleted.',
  },
  de: {
    title: 'Code-Quellen',
    text: 'Anbieter, die SMS und E-Mails mit Einmalcodes empfangen und an Holdfast schicken. Einer dient allen Verbindungen eines Projekts; welche Nummer oder Adresse eine Verbindung hat, steht in ihren Einstellungen.',
    smtp: 'Ist der Mail-Port von Holdfast selbst geöffnet, brauchen E-Mails keinen Anbieter.',
    provider: 'Anbieter',
    url: 'Adresse, an die er schickt',
    since: 'Hinzugefügt',
    add: 'Anbieter hinzufügen',
    added: 'Der Anbieter ist hinzugefügt. Gib ihm die Adresse aus der Liste.',
    emptyTitle: 'Noch keine Code-Quellen',
    emptyText:
      'Ohne eine gibt jemand die Codes ein, die Websites schicken. Füge einen Anbieter hinzu und gib ihm die Adresse, die du dann hier siehst.',
    twilio: 'Twilio (SMS)',
    mailgun: 'Mailgun (E-Mails)',
    secret: 'Geheimnis',
    secretHint:
      'Twilio: das Auth-Token; Mailgun: der Webhook-Signaturschlüssel. Es wird versiegelt; niemand bekommt es wieder zu sehen.',
    copy: 'Adresse kopieren',
    copied: 'Die Adresse ist kopiert.',
    removeTitle: 'Diesen Anbieter löschen?',
    removeText:
      'Was er danach schickt, wird abgelehnt. Für ein anderes Geheimnis lösche ihn und füge ihn mit seiner neuen Adresse wieder hinzu.',
    removed: 'Der Anbieter ist gelöscht.',
  },
});
