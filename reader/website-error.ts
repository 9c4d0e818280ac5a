import type { Cluster, SeenFrame } from './clusters.ts';
import type { TextFacts } from './facts.ts';
import { ASKS_LOGIN, COMPLAINT, GOOD_NEWS, REFUSAL } from './error-words.ts';
import { anyOf, normalize } from './normalize.ts';
import { speaksOfProof } from './wants-proof.ts';
import { PASSWORD, SIGN_IN, USER } from './words.ts';

const ALERT = /role=alert(?!dialog)|live=assertive/;
const ERROR_MARK =
  /(?<![a-z])(errors?|danger|invalid|err|errormessage|errortext|errorlist|errornote|failure|fail|failed|incorrect|has-error|fehler|erreur)(?![a-z])|[a-z]error|error[A-Z]|Error/;
const MESSAGE_MARK =
  /role=status|live=polite|(?<![a-z])(warn|warning|alert|flash|message|messages|msg|notification|notice|notify|toast|snackbar|feedback|validation|helper|problem)/i;
const GOOD_MARK = /(?<![a-z])(success|info|positive|help-?block|hint)(?![a-z])/i;
const SUCCESS_MARK = /(?<![a-z])(success|positive)(?![a-z])/i;
/** Advice for the case that something goes wrong one day. */
const CONDITIONAL =
  /^(if|when|wenn|falls|si|se|als|om|jesli|never|do not|don't|make sure|for security|need|having)(?![a-z])|\bif you\b/;

/** A text that calls itself an error. */
const CALLED_ERROR = /^(error|fehler|erreur|errore|erro|fout|fel|fejl|blad|hata|ошибка|エラー|错误|錯誤|오류) ?[:!：]/;

/** What happened earlier, told to somebody who is inside by now. */
const HISTORY =
  /^(there (was|were) )?\d+ (failed|unsuccessful) (log ?in|sign ?in|login) attempts?( since [^.!]*)?[.!]?$|^last (failed |unsuccessful |successful )?(log ?in|sign ?in)/;

const MAX_LENGTH = 500;
/** Longer blocks are explanations. */
const MAX_CANDIDATE = 400;
const ENOUGH = 5;

/** The error that the site shows now, in its own words, or null. Hints, cookie notices and good news are not errors. */
export function readWebsiteError(frames: readonly SeenFrame[], form: Cluster | undefined): string | null {
  const rated = frames.flatMap((frame) =>
    frame.facts.texts.map((text) => ({ text, frame, points: rate(text, frame, form) })),
  );
  const [best] = rated.filter((each) => each.points >= ENOUGH).sort((a, b) => b.points - a.points);
  return best ? wholeMessage(best.text, best.frame) : null;
}

function rate(text: TextFacts, frame: SeenFrame, form: Cluster | undefined): number {
  const isAlert = ALERT.test(text.marks);
  if (text.within === 'button' || text.region === 'consent') return 0;
  if (!isAlert && (text.region === 'nav' || text.region === 'footer')) return 0;
  if (text.text.length < 3 || text.text.length > MAX_CANDIDATE) return 0;
  const said = normalize(text.text);
  if (ASKS_LOGIN.test(said) || HISTORY.test(said)) return 0;
  const refuses = REFUSAL.test(said);
  if (GOOD_NEWS.test(said) && !(refuses && (isAlert || ERROR_MARK.test(text.marks)))) return 0;
  if (text.within === 'link' && !isAlert) return 0;

  let points = 0;
  if (text.describesInvalid) points += 3;
  if (isAlert) points += 2;
  if (ERROR_MARK.test(text.marks)) points += 3.5;
  else if (!isAlert && MESSAGE_MARK.test(text.marks)) points += 1.5;
  if (text.red) points += 2.5;
  if (CALLED_ERROR.test(said)) points += 1.5;
  if (refuses) points += 4;
  else if (COMPLAINT.test(said) || speaksOfProof(said)) points += 2;
  else points -= 1;
  if (form !== undefined && frame === form.frame && (isInForm(text, form) || isClose(text, form))) points += 1;
  if (form === undefined) points -= 1;

  // Some sites draw all that they have to tell as news. Only a hint beside a field says "invalid" without an alert of its own.
  const isNews = GOOD_MARK.test(text.marks) && !(refuses && isAlert && !SUCCESS_MARK.test(text.marks));
  if (isNews && !ERROR_MARK.test(text.marks)) points -= 3;
  if (CONDITIONAL.test(said) || (said.includes('?') && !isAlert)) points -= 3;
  if (text.heading && !isAlert && !ERROR_MARK.test(text.marks)) points -= 3;
  if (text.within === 'label' || isMerelyRequired(said)) points -= 4;
  return points;
}

/** Words for what a login was tried with. */
const CREDENTIALS = anyOf(
  'credentials, login, log on, logon, authentication, zugangsdaten, anmeldung, anmeldedaten, inloggegevens, identifiants, connexion, credenciales, inicio de sesion, credenziali, accesso, credenciais, dane logowania',
);
/** Faults of the site itself, which say nothing of what was typed. */
const FAULT = anyOf(
  'try again later, server error, internal error, technical, temporarily, unavailable, maintenance, timeout, timed out, session, cookie, cookies, csrf, token, spater erneut, technische*, technique*, tecnico, tecnica, plus tard, mas tarde, piu tardi',
);
/** A page that only refuses is short. */
const MAX_REFUSAL_TEXTS = 12;

/**
 * What a page without a form says of the answer before it, when all that it does is to refuse it ("Login failed"): a plain sentence,
 * which beside a form would be none of its errors. Null when it says nothing of the kind. Only for the page after an answer.
 * @param error what the page shows as an error.
 */
export function readRefusal(frames: readonly SeenFrame[], error: string | null): string | null {
  if (error !== null) return refusesLogin(normalize(error)) ? error : null;
  const aside = new Set(['nav', 'footer', 'consent']);
  const texts = frames
    .flatMap(({ facts }) => facts.texts)
    .filter(({ within, region }) => within === 'none' && !aside.has(region));
  if (texts.length > MAX_REFUSAL_TEXTS) return null;
  const refusals = texts.filter(({ text }) => text.length <= MAX_CANDIDATE && refusesLogin(normalize(text)));
  return (refusals.find(({ heading }) => !heading) ?? refusals[0])?.text.slice(0, MAX_LENGTH) ?? null;
}

function refusesLogin(said: string): boolean {
  const isOther =
    HISTORY.test(said) || ASKS_LOGIN.test(said) || GOOD_NEWS.test(said) || FAULT.test(said) || CONDITIONAL.test(said);
  const isAboutLogin = [PASSWORD, USER, SIGN_IN, CREDENTIALS].some((words) => words.test(said));
  return REFUSAL.test(said) && isAboutLogin && !isOther;
}

/** The star beside a label, or the word for it. */
function isMerelyRequired(said: string): boolean {
  return (
    /^[^\p{L}]*(required|optional|pflichtfeld|obligatoire|required fields?)?[^\p{L}]*$/u.test(said) ||
    /fields? marked/.test(said)
  );
}

function isInForm(text: TextFacts, { controls }: Cluster): boolean {
  return text.form >= 0 && text.form === controls[0]?.control.form;
}

function isClose(text: TextFacts, form: Cluster): boolean {
  const box = form.box;
  return text.box.y > box.y - 250 && text.box.y < box.y + box.height + 150;
}

/** An alert or a notification of several lines: its blocks one after another, as a person reads them. */
function wholeMessage(best: TextFacts, frame: SeenFrame): string {
  const alert = /[^|]*role=(alert(?!dialog)|status)[^|]*/.exec(best.marks)?.[0].trim();
  if (!alert) return best.text.slice(0, MAX_LENGTH);
  const parts = frame.facts.texts.filter(
    (text) =>
      text.marks.includes(alert) &&
      text.within === 'none' &&
      Math.abs(text.order - best.order) < 12 &&
      Math.abs(text.box.y - best.box.y) < 150,
  );
  const lines = parts.length > 0 && parts.length <= 3 ? parts.map((part) => part.text) : [best.text];
  return [...new Set(lines)].join(' ').slice(0, MAX_LENGTH);
}
