import type { PageReading } from '../../contract/reading.ts';
import { ASIDE_REGIONS, isConfirmText, isPostponeText } from '../choices/interstitials.ts';
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
/** More fields than this are a profile to fill in, not a login step. */
const MAX_FIELDS = 4;
/** A page with more buttons than this is the application itself. */
const MAX_BUTTONS = 12;

/**
 * The form of a step between the password and the site itself whose fields are not a login's own: a security question, a date of
 * birth, a customer number. Null if there is none. Only for the page after a submission.
 */
export function readFollowUpForm(frames: readonly FrameSnapshot[]): Pick<PageReading, 'fields' | 'submit'> | null {
  const visible = frames.flatMap(({ facts }) => facts.clickables).filter((each) => each.visible);
  if (visible.length > MAX_BUTTONS || signedInHints(frames).length > 0) return null;
  if (visible.some(({ text }) => isPostponeText(normalize(text)))) return null;
  for (const cluster of frames.flatMap(findClusters)) {
    const button = findSubmit(cluster)?.button;
    if (button === undefined || !asksForText(cluster)) continue;
    if (!OWNER_QUESTION.test(clusterText(cluster)) && !isConfirmText(normalize(button.text))) continue;
    return {
      fields: readFields(cluster).map((field) => ({ ...field, required: true })),
      submit: { selector: button.selector, frame: [...cluster.frame.path] },
    };
  }
  return null;
}

/** True for a few empty text fields in the body of the page. */
function asksForText({ controls }: Cluster): boolean {
  return (
    controls.length > 0 &&
    controls.length <= MAX_FIELDS &&
    controls.every(
      ({ control, meaning }) =>
        (meaning === 'other' || meaning === 'profile') &&
        control.tag === 'input' &&
        !control.filled &&
        !ASIDE_REGIONS.has(control.region),
    )
  );
}

function clusterText({ controls, heading }: Cluster): string {
  return [normalize(heading), ...controls.map(({ control }) => controlWords(control).said)].join(' | ');
}
