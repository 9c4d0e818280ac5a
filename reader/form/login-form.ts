import type { FormChoice, ReadChoice } from '../../contract/reading.ts';
import type { FrameSnapshot, Region } from '../facts.ts';
import { buttonWords } from './buttons.ts';
import { type Cluster, findClusters } from './clusters.ts';
import type { ControlMeaning } from './control-meaning.ts';
import { judgeCluster } from './login-signs.ts';
import { type Submit, findSubmit } from './submit.ts';
import { identifierWords, normalize, pathWords } from '../text/normalize.ts';
import { SIGN_IN } from '../text/words.ts';

/** A cluster that asks to sign in, with its submit button and the evidence. */
export interface LoginForm extends Cluster {
  readonly submit: Submit | undefined;
  readonly reasons: readonly string[];
}

/** A cluster that is not a login, with the reason. */
interface RejectedCluster {
  readonly cluster: Cluster;
  readonly reason: string;
}

/** The login form of a page, and what it was chosen from. */
export interface LoginChoice {
  readonly login: LoginForm | undefined;
  /** Other login forms, most likely first. */
  readonly others: readonly LoginForm[];
  readonly rejected: readonly RejectedCluster[];
  /** Keys of the login and the other login forms, then of rejected clusters that a person may still choose. */
  readonly forms: readonly string[];
  /** The login and the forms that only wording or order rank below it; empty if the choice was clear or a person's. */
  readonly contenders: readonly KeyedCluster<LoginForm>[];
}

/**
 * Finds the cluster that asks to sign in: judges each by itself, then ranks the logins. A form that the person has chosen comes
 * first, forms that the person has passed over come last; if every login was passed over, rejected clusters are tried.
 */
export function chooseLoginForm(frames: readonly FrameSnapshot[], chosen?: FormChoice): LoginChoice {
  const top = frames[0];
  const logins: LoginForm[] = [];
  const rejected: RejectedCluster[] = [];
  const fillable: LoginForm[] = [];
  for (const frame of frames) {
    for (const cluster of findClusters(frame)) {
      const submit = findSubmit(cluster);
      const verdict = judgeCluster(cluster, submit, top);
      if (verdict.isLogin) logins.push({ ...withCurrentPassword(cluster), submit, reasons: verdict.reasons });
      else {
        rejected.push({ cluster, reason: verdict.reasons.join('; ') });
        if (couldBeLogin(cluster))
          fillable.push({ ...withCurrentPassword(cluster), submit, reasons: ['a person chose it'] });
      }
    }
  }
  const ranked = logins.sort(byLikelihood);
  const all = formKeys([...ranked, ...fillable]);
  const taken = all.find(({ key }) => key === chosen?.taken);
  const fresh = ranked.length === 0 ? undefined : all.find(({ key }) => chosen?.passedOver.includes(key) !== true);
  const first = taken ?? fresh ?? (ranked.length === 0 ? undefined : all[0]);
  if (first === undefined) return { login: undefined, others: [], rejected, forms: [], contenders: [] };
  const contenders = all.filter(({ cluster }) => ranked.includes(cluster) && isAsLikely(cluster, first.cluster));
  const isAmbiguous = taken === undefined && (chosen?.passedOver ?? []).length === 0 && contenders.length > 1;
  return {
    contenders: isAmbiguous ? contenders.slice(0, MAX_FORMS) : [],
    login: first.cluster,
    others: ranked.filter((each) => each !== first.cluster),
    rejected: rejected.filter(
      ({ cluster }) => cluster.first !== first.cluster.first || cluster.frame !== first.cluster.frame,
    ),
    forms: [first.key, ...all.filter((each) => each !== first).map(({ key }) => key)].slice(0, MAX_FORMS),
  };
}

/** Nobody goes through more forms of a page. */
const MAX_FORMS = 8;

/** True for fields that may be a login if a person says so. */
function couldBeLogin({ controls }: Cluster): boolean {
  const has = (...meanings: ControlMeaning[]): boolean => controls.some(({ meaning }) => meanings.includes(meaning));
  return has('identifier', 'password', 'new_password') && !has('card');
}

/** Some sites mark the login password as new to prevent autofill. */
function withCurrentPassword(cluster: Cluster): Cluster {
  const controls = cluster.controls.map((each) =>
    each.meaning === 'new_password' ? { ...each, meaning: 'password' as const, why: `${each.why}, in a login` } : each,
  );
  return { ...cluster, controls };
}

/** Where people look first. */
const REGION_SCORES: Readonly<Record<Region, number>> = {
  dialog: 5,
  main: 4,
  aside: 3,
  popup: 2,
  nav: 1,
  header: 1,
  footer: 0,
  consent: 0,
};

/** More evidence of a login first, then what is not covered, in the main part of the page, and first in order. */
function byLikelihood(a: LoginForm, b: LoginForm): number {
  return (
    evidenceScore(b) - evidenceScore(a) ||
    Number(isCovered(a)) - Number(isCovered(b)) ||
    regionScore(b) - regionScore(a) ||
    signInScore(b) - signInScore(a) ||
    fieldScore(b) - fieldScore(a) ||
    a.frame.path.length - b.frame.path.length ||
    a.first - b.first
  );
}

/** True if neither the fields of two logins nor their place decides between them. */
function isAsLikely(a: LoginForm, b: LoginForm): boolean {
  return evidenceScore(a) === evidenceScore(b) && isCovered(a) === isCovered(b) && regionScore(a) === regionScore(b);
}

/** A secret makes a login; an identifier alone does only if its button says so. */
function evidenceScore({ controls, submit }: LoginForm): number {
  if (controls.some(({ meaning }) => meaning === 'password' || meaning === 'code')) return 2;
  return submit !== undefined && SIGN_IN.test(buttonWords(submit.button)) ? 2 : 1;
}

function isCovered({ controls }: LoginForm): boolean {
  return controls.every(({ control }) => control.covered);
}

function regionScore({ controls }: LoginForm): number {
  return REGION_SCORES[controls[0]?.control.region ?? 'main'];
}

function signInScore({ submit, heading }: LoginForm): number {
  const pressed = submit !== undefined && SIGN_IN.test(buttonWords(submit.button));
  return Number(pressed) + Number(SIGN_IN.test(normalize(heading)));
}

/** An identifier with a password ranks above a password alone. */
function fieldScore({ controls }: LoginForm): number {
  const has = (meaning: ControlMeaning): number => Number(controls.some((each) => each.meaning === meaning));
  return has('identifier') + has('password');
}

/** A cluster and the key that identifies it on the next visit. */
export interface KeyedCluster<Each extends Cluster> {
  readonly cluster: Each;
  readonly key: string;
}

const MAX_KEY = 200;

/** Gives every cluster its key, made of words of the page without numbers, which may change from visit to visit. */
function formKeys<Each extends Cluster>(clusters: readonly Each[]): KeyedCluster<Each>[] {
  const seen = new Map<string, number>();
  return clusters.map((cluster) => {
    const key = keyOf(cluster);
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return { cluster, key: count === 1 ? key : `${key} #${count}` };
  });
}

/** The key of a page that only offers choices. */
export function choicesKey(choices: readonly ReadChoice[]): string {
  return `choices ${withoutVolatileParts(choices.map(({ type, provider, label }) => `${type} ${provider ?? label}`).join(', '))}`.slice(
    0,
    MAX_KEY,
  );
}

function keyOf({ controls, form, heading }: Cluster): string {
  const fields = controls.map(({ control, meaning }) => `${meaning} ${control.name || control.id || control.label}`);
  const place =
    form === undefined ? '' : identifierWords(form.id, form.name, form.label, pathWords(pathOf(form.action)).join(' '));
  return [fields.join(', '), place, normalize(heading)].map(withoutVolatileParts).join(' | ').slice(0, MAX_KEY);
}

/** Removes what may change between visits: numbers, and the e-mail address in a greeting. */
function withoutVolatileParts(text: string): string {
  return text
    .replace(/\S+@\S+/g, '')
    .replace(/\d+/g, '')
    .trim();
}

/** The path of a form action, which may be relative. */
function pathOf(action: string): string {
  return action.replace(/[?#].*$/s, '').replace(/^https?:\/\/[^/]*/, '');
}
