import type { PageReading } from '../../contract/reading.ts';
import { ASIDE_REGIONS, isConfirmText, isPostponeText } from '../choices/interstitials.ts';
import { SECOND_FACTOR } from '../choices/mfa-methods.ts';
import type { FrameSnapshot } from '../facts.ts';
import { signedInHints } from '../signs/signed-in.ts';
import { anyOf, normalize } from '../text/normalize.ts';
import { type Cluster, findClusters } from './clusters.ts';
import { controlWords } from './control-meaning.ts';
import { readFields } from './fields.ts';
import { findSubmit } from './submit.ts';

/** Words of questions that only the account's owner can answer. */
const OWNER_QUESTION = anyOf(
  'security question, secret question, security answer, secret answer, challenge question, your answer, memorable word, memorable information, maiden name, first pet, last four digits, last 4 digits',
  'sicherheitsfrage, geheimfrage, ihre antwort, madchenname, question secrete, question de securite, votre reponse, pregunta de seguridad, pregunta secreta, su respuesta',
  'domanda di sicurezza, domanda segreta, pergunta de seguranca, pergunta secreta, beveiligingsvraag, pytanie zabezpieczajace, guvenlik sorusu, контрольный вопрос, секретный вопрос, 秘密の質問, 密保问题, 安全问题, 보안 질문',
);
/** Words of a page that wants to know more about who is logging in. */
const SUSPICION = anyOf(
  'unusual, suspicious, ungewohnlich*, verdachtig*, inhabituel*, suspect*, inusual, sospechos*, insolit*, incomum, suspeit*, ongebruikelijk*, nietypow*, необычн, подозрительн, 不審, 異常, 异常, 비정상',
);
/** More fields than this are a profile to fill in, not a login step. */
const MAX_FIELDS = 4;
/** A page with more buttons than this is the application itself. */
const MAX_BUTTONS = 12;

/**
 * The form of a step between the password and the site itself whose fields are not a login's own: a security question, a date of
 * birth, a customer number, another identifier against an unusual login. Null if there is none. Only for the page after a submission.
 */
export function readFollowUpForm(frames: readonly FrameSnapshot[]): Pick<PageReading, 'fields' | 'submit'> | null {
  const visible = frames.flatMap(({ facts }) => facts.clickables).filter((each) => each.visible);
  if (visible.length > MAX_BUTTONS || signedInHints(frames).length > 0) return null;
  if (visible.some(({ text }) => isPostponeText(normalize(text)))) return null;
  const said = normalize(frames.flatMap(({ facts }) => facts.texts.map(({ text }) => text)).join(' | '));
  const wantsProof = SECOND_FACTOR.test(said) || SUSPICION.test(said);
  for (const cluster of frames.flatMap(findClusters)) {
    const button = findSubmit(cluster)?.button;
    if (button === undefined || !asksForText(cluster, wantsProof)) continue;
    if (!OWNER_QUESTION.test(clusterText(cluster)) && !isConfirmText(normalize(button.text))) continue;
    return {
      fields: readFields(cluster).map((field) => ({ ...field, required: true })),
      submit: { selector: button.selector, frame: [...cluster.frame.path] },
    };
  }
  return null;
}

/** True for a few empty text fields in the body of the page; for one that takes another identifier only if it is to prove who is there. */
function asksForText({ controls }: Cluster, wantsProof: boolean): boolean {
  return (
    controls.length > 0 &&
    controls.length <= MAX_FIELDS &&
    controls.every(
      ({ control, meaning }) =>
        (meaning === 'other' || meaning === 'profile' || (meaning === 'identifier' && wantsProof)) &&
        control.tag === 'input' &&
        !control.filled &&
        !ASIDE_REGIONS.has(control.region),
    )
  );
}

function clusterText({ controls, heading }: Cluster): string {
  return [normalize(heading), ...controls.map(({ control }) => controlWords(control).said)].join(' | ');
}
