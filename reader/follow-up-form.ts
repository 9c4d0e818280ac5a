import type { PageReading } from '../contract/reading.ts';
import { clustersOf, type Cluster, type SeenFrame } from './clusters.ts';
import { readFields } from './fields.ts';
import { anyOf, normalize } from './normalize.ts';
import { isPress } from './offers.ts';
import { ownSigns } from './signs.ts';
import { findSubmit } from './submit.ts';
import { wordsOf } from './control-meaning.ts';

/** Words of a question that only the owner of an account can answer. */
const OWNER_QUESTION = anyOf(
  'security question, secret question, security answer, secret answer, challenge question, your answer, memorable word, memorable information, maiden name, first pet, last four digits, last 4 digits',
  'sicherheitsfrage, geheimfrage, ihre antwort, madchenname, question secrete, question de securite, votre reponse, pregunta de seguridad, pregunta secreta, su respuesta',
  'domanda di sicurezza, domanda segreta, pergunta de seguranca, pergunta secreta, beveiligingsvraag, pytanie zabezpieczajace, guvenlik sorusu, контрольный вопрос, секретный вопрос, 秘密の質問, 密保问题, 安全问题, 보안 질문',
);
/** More fields than this are a profile to be filled in, not a step of a login. */
const MAX_FIELDS = 4;
/** A page with more to press than this is an application, whose fields are for its work. */
const MAX_BUTTONS = 12;

/**
 * Reads a form that a site shows between the password and the inside, whose fields are none of a login's own: a security
 * question, a date of birth, a customer number. Null when there is none. Only for the page after an answer.
 */
export function readFollowUpForm(frames: readonly SeenFrame[]): Pick<PageReading, 'fields' | 'submit'> | null {
  const visible = frames.flatMap(({ facts }) => facts.clickables).filter((each) => each.visible);
  if (visible.length > MAX_BUTTONS || ownSigns(frames).length > 0) return null;
  for (const cluster of frames.flatMap(clustersOf)) {
    const button = findSubmit(cluster)?.button;
    if (button === undefined || !isAboutOwner(cluster)) continue;
    const asksOwner = OWNER_QUESTION.test(saidBy(cluster)) || saidBy(cluster).includes('?');
    if (!asksOwner && !isPress(normalize(button.text))) continue;
    return {
      fields: readFields(cluster).map((field) => ({ ...field, required: true })),
      submit: { selector: button.selector, frame: [...cluster.frame.path] },
    };
  }
  return null;
}

/** True for a few empty text fields in the body of the page. */
function isAboutOwner({ controls }: Cluster): boolean {
  return (
    controls.length > 0 &&
    controls.length <= MAX_FIELDS &&
    controls.every(
      ({ control, meaning }) =>
        (meaning === 'other' || meaning === 'profile') &&
        control.tag === 'input' &&
        !control.filled &&
        !['header', 'nav', 'footer', 'consent'].includes(control.region),
    )
  );
}

function saidBy({ controls, heading }: Cluster): string {
  return [normalize(heading), ...controls.map(({ control }) => wordsOf(control).said)].join(' | ');
}
