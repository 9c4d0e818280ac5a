import type { ErrorCode } from '../../contract/errors.ts';
import { fieldErrorText } from './field-errors.ts';
import { inLanguage, language } from './language.ts';

/** German texts for error codes: the API's messages are English. Errors of one field are in `field-errors.ts`. */
type Refusals = Readonly<Record<ErrorCode, string>>;

const DE: Refusals = {
  unauthorized: 'Du bist nicht mehr angemeldet. Lade die Seite neu und melde dich an',
  forbidden: 'Das darfst du nicht. Frage jemanden, der Eigentümer der Organisation ist',
  confirmation_required: 'Dafür musst du bestätigen, dass du es bist. Versuche es noch einmal',
  insufficient_plan: 'Der Tarif enthält das nicht. Wer Holdfast betreibt, wählt den Tarif',
  limit_reached: 'Die Organisation hat davon schon so viele, wie sie haben darf. Lösche eines, oder erhöhe die Grenze',
  not_found: 'Das gibt es nicht, oder nicht mehr. Geh zurück zur Liste',
  projects_disabled: 'Projekte sind ausgeschaltet. Jemand mit der Rolle „verwaltet“ schaltet sie ein',
  already_exists: 'Das gibt es schon. Nimm einen anderen Namen, oder benutze das vorhandene',
  flow_in_progress: 'Gerade läuft eine Anmeldung. Warte, bis sie zu Ende ist',
  check_in_progress: 'Gerade läuft eine Prüfung. Warte, bis sie zu Ende ist',
  payload_too_large: 'Das ist zu groß. Schicke weniger auf einmal',
  rate_limited: 'Das waren zu viele Versuche. Warte einen Moment und versuche es noch einmal',
  internal_error: 'Holdfast hat versagt. Versuche es noch einmal, und melde es, wenn es so bleibt',
  browser_error: 'Der Browser-Dienst hat versagt. Versuche es noch einmal',
  unavailable: 'Ein Teil von Holdfast ist gerade nicht da. Versuche es gleich noch einmal',
  invalid_input: 'Eine Angabe ist nicht gültig. Prüfe sie und versuche es noch einmal',
  bad_request: 'Holdfast versteht diese Anfrage nicht. Lade die Seite neu und versuche es noch einmal',
  invalid_request: 'Mit diesen Angaben geht das nicht. Ändere sie und versuche es noch einmal',
  operation_failed: 'Das geht so gerade nicht. Sieh nach, was noch damit zusammenhängt, und versuche es noch einmal',
  gone: 'Das ist abgelaufen oder wurde schon benutzt. Fange neu an',
  stale_interaction: 'Die Seite fragt inzwischen etwas anderes. Lade sie neu',
  not_awaiting_input: 'Gerade wird nach nichts gefragt. Lade die Seite neu',
  unknown_field: 'Danach wird nicht mehr gefragt. Lade die Seite neu',
  unknown_choice: 'Das steht nicht mehr zur Wahl. Lade die Seite neu',
  missing_field: 'Es fehlt noch etwas. Fülle alle Felder aus',
  cannot_delete_current_key: 'Diesen Schlüssel benutzt du gerade. Lösche ihn mit einem anderen',
  method_not_allowed: 'Holdfast kennt das nicht. Lade die Seite neu',
  unsupported_media_type: 'Holdfast nimmt diese Art von Datei nicht. Wähle eine andere',
  not_implemented: 'Das kann diese Ausgabe von Holdfast nicht',
  capacity_exhausted: 'Gerade lässt sich kein weiterer Browser öffnen. Versuche es gleich noch einmal',
};

/** API messages that need more than the text for their code. */
const SENTENCES: readonly (readonly [pattern: RegExp, de: string])[] = [
  [
    /^An organization keeps an owner;/,
    'Eine Organisation braucht jemanden mit der Rolle „verwaltet“. Gib diese Rolle zuerst jemand anderem',
  ],
  [/^The default project cannot be /, 'Das Standardprojekt bleibt: Was kein Projekt nennt, gehört hierher'],
  [/^The project still has /, 'Im Projekt ist noch etwas. Beende und lösche zuerst, was darin ist'],
  [
    /^There are other projects than the default one;/,
    'Es gibt noch andere Projekte. Archiviere oder lösche sie zuerst',
  ],
  [/^Connection \S+ uses this profile;/, 'Eine Verbindung benutzt dieses Profil. Lösche zuerst die Verbindung'],
];

const texts = inLanguage<Readonly<Record<string, string | undefined>>>({ en: {}, de: DE });

/** An error message in the person's language; the API's own message if there is no translation. */
export function errorText(code: string, message: string): string {
  const [, field, rule] = code === 'invalid_input' ? (/^([\w.]+): (.+)$/s.exec(message) ?? []) : [];
  if (field !== undefined && rule !== undefined) return `${field}: ${fieldErrorText(rule)}`;
  if (language === 'en') return message;
  return SENTENCES.find(([pattern]) => pattern.test(message))?.[1] ?? texts[code] ?? message;
}
