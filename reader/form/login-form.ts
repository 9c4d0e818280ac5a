import type { FormChoice, ReadChoice } from '../../contract/reading.ts';
import type { FrameSnapshot, Region } from '../facts.ts';
import { buttonWords } from './buttons.ts';
import { type Cluster, findClusters } from './clusters.ts';
import type { ControlMeaning } from './control-meaning.ts';
import { judge } from './login-signs.ts';
import { type Submit, findSubmit } from './submit.ts';
import { identifierWords, normalize, pathWords } from '../text/normalize.ts';
import { SIGN_IN } from '../text/words.ts';

/** A cluster that asks to sign in, its button, and why it was taken for that. */
export interface LoginForm extends Cluster {
  readonly submit: Submit | undefined;
  readonly reasons: readonly string[];
}

/** A cluster that was looked at and left out, with the reason. */
export interface RejectedCluster {
  readonly cluster: Cluster;
  readonly reason: string;
}

/** What the choice among clusters was made from. */
export interface Choice {
  readonly login: LoginForm | undefined;
  /** Others that ask to sign in as well, the likeliest first. */
  readonly others: readonly LoginForm[];
  readonly refused: readonly RejectedCluster[];
  /** Keys of the login and of the others, in their order; then of what could be filled in although it is taken for no login. */
  readonly forms: readonly string[];
  /** The login and those that only their words or their order put behind it; empty where the choice was plain or a person's. */
  readonly close: readonly KeyedCluster<LoginForm>[];
}

/**
 * Finds the cluster that asks to sign in: judges each alone, then compares those that do. What a person has settled on comes
 * before all, and what a person has passed over comes last; where every login was, the clusters that were refused come first.
 */
export function chooseLoginForm(frames: readonly FrameSnapshot[], chosen?: FormChoice): Choice {
  const top = frames[0];
  const logins: LoginForm[] = [];
  const refused: RejectedCluster[] = [];
  const fillable: LoginForm[] = [];
  for (const frame of frames) {
    for (const cluster of findClusters(frame)) {
      const submit = findSubmit(cluster);
      const verdict = judge(cluster, submit, top);
      if (verdict.isLogin) logins.push({ ...asLogin(cluster), submit, reasons: verdict.reasons });
      else {
        refused.push({ cluster, reason: verdict.reasons.join('; ') });
        if (isFillable(cluster)) fillable.push({ ...asLogin(cluster), submit, reasons: ['a person chose it'] });
      }
    }
  }
  const ranked = logins.sort(compare);
  const all = formKeys([...ranked, ...fillable]);
  const taken = all.find(({ key }) => key === chosen?.taken);
  const fresh = ranked.length === 0 ? undefined : all.find(({ key }) => chosen?.passedOver.includes(key) !== true);
  const first = taken ?? fresh ?? (ranked.length === 0 ? undefined : all[0]);
  if (first === undefined) return { login: undefined, others: [], refused, forms: [], close: [] };
  const near = all.filter(({ cluster }) => ranked.includes(cluster) && isAsLikely(cluster, first.cluster));
  const isOpen = taken === undefined && (chosen?.passedOver ?? []).length === 0 && near.length > 1;
  return {
    close: isOpen ? near.slice(0, MAX_FORMS) : [],
    login: first.cluster,
    others: ranked.filter((each) => each !== first.cluster),
    refused: refused.filter(
      ({ cluster }) => cluster.first !== first.cluster.first || cluster.frame !== first.cluster.frame,
    ),
    forms: [first.key, ...all.filter((each) => each !== first).map(({ key }) => key)].slice(0, MAX_FORMS),
  };
}

/** So many forms of a page are named; nobody goes through more. */
const MAX_FORMS = 8;

/** True for fields that may be a login after all, if a person says so. */
function isFillable({ controls }: Cluster): boolean {
  const has = (...meanings: ControlMeaning[]): boolean => controls.some(({ meaning }) => meanings.includes(meaning));
  return has('identifier', 'password', 'new_password') && !has('card');
}

/** Authors who want no password filled in call it new: where one signs in, it is not. */
function asLogin(cluster: Cluster): Cluster {
  const controls = cluster.controls.map((each) =>
    each.meaning === 'new_password' ? { ...each, meaning: 'password' as const, why: `${each.why}, in a login` } : each,
  );
  return { ...cluster, controls };
}

/** Where on the page people look for what it is about. */
const PLACES: Readonly<Record<Region, number>> = {
  main: 4,
  dialog: 4,
  aside: 3,
  popup: 2,
  nav: 1,
  header: 1,
  footer: 0,
  consent: 0,
};

/** The likelier login first: what asks for more of one, what stands in the main part and is not covered, what comes first. */
function compare(a: LoginForm, b: LoginForm): number {
  return (
    weightOf(b) - weightOf(a) ||
    Number(isCovered(a)) - Number(isCovered(b)) ||
    placeOf(b) - placeOf(a) ||
    saysSignIn(b) - saysSignIn(a) ||
    fieldsOf(b) - fieldsOf(a) ||
    a.frame.path.length - b.frame.path.length ||
    a.first - b.first
  );
}

/** True where neither what a login asks for nor its place says which of two it is. */
function isAsLikely(a: LoginForm, b: LoginForm): boolean {
  return weightOf(a) === weightOf(b) && isCovered(a) === isCovered(b) && placeOf(a) === placeOf(b);
}

/** A secret makes a login; a name alone does so where its own button says it. */
function weightOf({ controls, submit }: LoginForm): number {
  if (controls.some(({ meaning }) => meaning === 'password' || meaning === 'code')) return 2;
  return submit !== undefined && SIGN_IN.test(buttonWords(submit.button)) ? 2 : 1;
}

function isCovered({ controls }: LoginForm): boolean {
  return controls.every(({ control }) => control.covered);
}

function placeOf({ controls }: LoginForm): number {
  return PLACES[controls[0]?.control.region ?? 'main'];
}

function saysSignIn({ submit, heading }: LoginForm): number {
  const pressed = submit !== undefined && SIGN_IN.test(buttonWords(submit.button));
  return Number(pressed) + Number(SIGN_IN.test(normalize(heading)));
}

/** A name beside its password is asked for before a password alone. */
function fieldsOf({ controls }: LoginForm): number {
  const has = (meaning: ControlMeaning): number => Number(controls.some((each) => each.meaning === meaning));
  return has('identifier') + has('password');
}

/** A cluster and what it is known by on the next visit. */
export interface KeyedCluster<Each extends Cluster> {
  readonly cluster: Each;
  readonly key: string;
}

const MAX_KEY = 200;

/** Gives every cluster of a page its key: words of the page alone, without numbers, which scripts count up from visit to visit. */
export function formKeys<Each extends Cluster>(clusters: readonly Each[]): KeyedCluster<Each>[] {
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
  return `choices ${steady(choices.map(({ type, provider, label }) => `${type} ${provider ?? label}`).join(', '))}`.slice(
    0,
    MAX_KEY,
  );
}

function keyOf({ controls, form, heading }: Cluster): string {
  const fields = controls.map(({ control, meaning }) => `${meaning} ${control.name || control.id || control.label}`);
  const place =
    form === undefined ? '' : identifierWords(form.id, form.name, form.label, pathWords(pathOf(form.action)).join(' '));
  return [fields.join(', '), place, normalize(heading)].map(steady).join(' | ').slice(0, MAX_KEY);
}

/** Without what may differ between two visits: numbers, and the address of whoever is greeted. */
function steady(text: string): string {
  return text
    .replace(/\S+@\S+/g, '')
    .replace(/\d+/g, '')
    .trim();
}

/** The path of what a form names as its address, which may be no whole one. */
function pathOf(action: string): string {
  return action.replace(/[?#].*$/s, '').replace(/^https?:\/\/[^/]*/, '');
}
