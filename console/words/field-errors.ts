import { fill, language } from './language.ts';

/**
 * What the API says about a field, and how to say it in English (null: unchanged) and German. The first entries are zod's own issue
 * messages, the others are rules of fields in the console's forms. `{1}` is the pattern's first group.
 */
const RULES: readonly (readonly [pattern: RegExp, en: string | null, de: string])[] = [
  [/^Invalid input: expected \w+, received undefined$/, 'is missing', 'fehlt'],
  [/^Invalid input: expected (?:number|int), received \w+$/, 'must be a number', 'muss eine Zahl sein'],
  [/^Invalid (?:input|option)\b.*$/, 'is not one of the allowed values', 'ist keiner der Werte, die hier möglich sind'],
  [/^Too small: expected string to have >=1 characters$/, 'must not be empty', 'darf nicht leer sein'],
  [
    /^Too small: expected string to have >=(\d+) characters$/,
    'must have {1} characters or more',
    'muss {1} Zeichen oder mehr haben',
  ],
  [
    /^Too big: expected string to have <=(\d+) characters$/,
    'must have {1} characters or fewer',
    'darf höchstens {1} Zeichen haben',
  ],
  [
    /^Too small: expected array to have >=(\d+) items$/,
    'must have {1} entries or more',
    'muss {1} Einträge oder mehr haben',
  ],
  [
    /^Too big: expected array to have <=(\d+) items$/,
    'must have {1} entries or fewer',
    'darf höchstens {1} Einträge haben',
  ],
  [/^Too small: expected \w+ to be >=(-?\d+)$/, 'must be {1} or more', 'muss {1} oder mehr sein'],
  [/^Too small: expected \w+ to be >(-?\d+)$/, 'must be more than {1}', 'muss mehr als {1} sein'],
  [/^Too big: expected \w+ to be <=(-?\d+)$/, 'must be {1} or less', 'darf höchstens {1} sein'],
  [/^Too big: expected \w+ to be <(-?\d+)$/, 'must be less than {1}', 'muss weniger als {1} sein'],
  [/^Invalid email address$|^must be an e-?mail address$/, 'must be an email address', 'muss eine E-Mail-Adresse sein'],
  [
    /^Invalid URL$/,
    'must be an address such as https://example.com',
    'muss eine Adresse sein, etwa https://example.com',
  ],
  [/^Invalid string: must match pattern .*$/, 'has the wrong format', 'ist nicht so geschrieben, wie es sein muss'],
  [/^is invalid$/, null, 'ist nicht gültig'],
  [/^required$/, null, 'fehlt'],
  [/^must not be empty$/, null, 'darf nicht leer sein'],
  [/^must be a whole number$/, null, 'muss eine ganze Zahl sein'],
  [/^is not a known property$/, null, 'ist hier nicht bekannt'],
  [/^must be a hostname\b.*$/, null, 'muss der Name einer Website sein, etwa example.com'],
  [
    /^must be a host name or an address, without a scheme or a port$/,
    null,
    'muss ein Name oder eine Adresse sein, ohne Schema und ohne Port',
  ],
  [
    /^must be an absolute http\(s\) URL without user or password$/,
    null,
    'muss eine vollständige Adresse sein, etwa https://example.com/login, ohne Benutzer und Passwort',
  ],
  [
    /^must be https; http is for hosts that the operator listed$/,
    null,
    'muss mit https beginnen; http ist für Rechner, die der Betreiber freigegeben hat',
  ],
  [/^(\S+) is a private address; .*$/, null, '{1} ist eine private Adresse; der Betreiber kann sie freigeben'],
  [/^is a private address; .*$/, null, 'ist eine private Adresse; der Betreiber kann sie freigeben'],
  [/^must be (\d+) or more on the (\w+) plan$/, null, 'muss im Tarif {2} {1} Sekunden oder mehr sein'],
  [
    /^must be a number with its country, such as .*$/,
    null,
    'muss eine Nummer mit ihrem Land sein, etwa +4915550109999',
  ],
  [
    /^must be a base32 secret of 16 characters or more\b.*$/,
    null,
    'muss ein Base32-Geheimnis von 16 Zeichen oder mehr sein (A–Z, 2–7), oder eine otpauth://totp/-Adresse, die eines enthält',
  ],
  [/^must not be the email address$/, null, 'darf nicht die E-Mail-Adresse sein'],
  [
    /^must be the six digits that the authenticator shows$/,
    null,
    'muss aus den sechs Ziffern bestehen, die der Authenticator zeigt',
  ],
  [
    /^is not the current code of the authenticator; enter the next one$/,
    null,
    'ist nicht der, den der Authenticator jetzt zeigt; gib den nächsten ein',
  ],
  [
    /^cannot be changed; have the new address invited$/,
    null,
    'lässt sich nicht ändern; lass die neue Adresse einladen',
  ],
  [/^must not hold a slash\b.*$/, null, 'darf keinen Schrägstrich enthalten und nicht „.“ oder „..“ sein'],
  [/^no credential of that name in this project$/, null, 'Zugangsdaten dieses Namens gibt es in diesem Projekt nicht'],
  [/^no such proxy in this project\b.*$/, null, 'diesen Proxy gibt es in diesem Projekt nicht'],
  [
    /^must be the name of a bucket: .*$/,
    null,
    'muss der Name eines Buckets sein: Kleinbuchstaben, Ziffern, Punkte, Striche',
  ],
  [/^must be the name of (?:a|an AWS) region\b.*$/, null, 'muss der Name einer Region sein, etwa eu-central-1'],
  [/^is not a valid ZIP archive$/, null, 'ist kein gültiges ZIP-Archiv'],
  [
    /^there is room for (\d+) sessions in all; send at most that$/,
    null,
    'es ist Platz für {1} Browser insgesamt; nimm höchstens so viele',
  ],
];

/** What is wrong with a field, in the person's language; the API's own message if there is no translation. */
export function fieldErrorText(rule: string): string {
  for (const [pattern, en, de] of RULES) {
    const match = pattern.exec(rule);
    if (match === null) continue;
    const text = language === 'de' ? de : en;
    return text === null ? rule : fill(text, { 1: match[1] ?? '', 2: match[2] ?? '' });
  }
  return rule;
}
