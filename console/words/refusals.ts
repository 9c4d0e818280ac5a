import type { ErrorCode } from '../../contract/errors.ts';
import { inLanguage } from './language.ts';

/** Refusals in general, where the API's own words are of another language than the page. */
type Refusals = Readonly<Partial<Record<ErrorCode, string>>>;

const DE: Refusals = {
  unauthorized: 'Du bist nicht mehr angemeldet. Lade die Seite neu und melde dich an',
  forbidden: 'Das darfst du nicht. Frage jemanden, der Eigentümer der Organisation ist',
  confirmation_required: 'Dafür musst du bestätigen, dass du es bist. Versuche es noch einmal',
  insufficient_plan: 'Der Tarif enthält das nicht. Wer Holdfast betreibt, wählt den Tarif',
  limit_reached: 'Die Organisation hat davon schon so viele, wie sie haben darf. Lösche eines, oder erhöhe die Grenze',
  not_found: 'Das gibt es nicht, oder nicht mehr. Geh zurück zur Liste',
  projects_disabled: 'Projekte sind ausgeschaltet. Jemand mit der Rolle „owner“ schaltet sie ein',
  already_exists: 'Das gibt es schon. Nimm einen anderen Namen, oder benutze das vorhandene',
  flow_in_progress: 'Gerade läuft eine Anmeldung. Warte, bis sie zu Ende ist',
  check_in_progress: 'Gerade läuft eine Prüfung. Warte, bis sie zu Ende ist',
  payload_too_large: 'Das ist zu groß. Schicke weniger auf einmal',
  rate_limited: 'Das waren zu viele Versuche. Warte einen Moment und versuche es noch einmal',
  internal_error: 'Holdfast hat versagt. Versuche es noch einmal, und melde es, wenn es so bleibt',
  browser_error: 'Der Browser-Dienst hat versagt. Versuche es noch einmal',
  unavailable: 'Ein Teil von Holdfast ist gerade nicht da. Versuche es gleich noch einmal',
  capacity_exhausted: 'Gerade lässt sich kein weiterer Browser öffnen. Versuche es gleich noch einmal',
};

const texts: Readonly<Record<string, string | undefined>> = inLanguage<Refusals>({ en: {}, de: DE });

/** Why a call was refused, in the person's language; as the API says it where that is all there is. */
export function refusalText(code: string, message: string): string {
  return texts[code] ?? message;
}
