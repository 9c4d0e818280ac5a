import type { ReauthMemory } from '../../contract/document.ts';
import type { FlowErrorCode } from '../../contract/connections.ts';
import type {
  CredentialVersion,
  LoginPlan,
  LoginRequirements,
  PlanStep,
  RequiredField,
  TakenChoice,
} from '../../contract/login-plan.ts';
import type { PageReading, ReadChoice } from '../../contract/reading.ts';
import { commonRef, nameFields, type FieldMemory } from './field-refs.ts';

/** So many failures in a row retire a plan: the site does not work that way any more. */
const MAX_FAILURES = 2;
/** Ways to log in that a connection remembers, the newest first. */
const MAX_PLANS = 3;

/** True until a plan has failed so often that it is not followed any more. */
export function isViable({ failures }: LoginPlan): boolean {
  return failures.count < MAX_FAILURES;
}

/** Where a page is, as it stays the same from one login to the next: origin and path, without what looks like an id. Pure. */
export function pageShape(url: string): string {
  const [, origin = '', path = ''] = /^([^/]*\/\/[^/?#]*)([^?#]*)/.exec(url) ?? [];
  const segments = path.split('/').map((segment) => (looksLikeId(segment) ? '*' : segment));
  return `${origin}${segments.join('/')}`;
}

function looksLikeId(segment: string): boolean {
  return /^\d+$/.test(segment) || segment.length > 24 || (/^[\w-]{8,}$/.test(segment) && /\d.*\d/.test(segment));
}

/** A page that waited for something elsewhere, which led on: nobody else can do that, but for a link that comes by mail. */
export function externalStep({ url, mailed_link: isLink }: PageReading): PlanStep {
  const step: PlanStep = { page: pageShape(url), fields: [], choice: null, external: true };
  return isLink === true ? { ...step, mailed_link: true } : step;
}

/** A step of a plan that fits the page in front. */
export interface PlannedStep {
  planId: string;
  step: PlanStep;
  /** The choice of the page that the step took. */
  choice: ReadChoice | null;
}

/**
 * The step of the plans that fits a page: its choice is offered, once, and its fields are there. One of the same page comes
 * first, else one that was met at another address; of several the one that was walked last. Null where the page is to be
 * read as if there were no plan. Pure.
 */
export function stepFor(plans: readonly LoginPlan[], reading: PageReading, fields: FieldMemory): PlannedStep | null {
  const refs = new Set(nameFields(reading.fields, fields).map(({ ref }) => ref));
  const here = pageShape(reading.url);
  const fitting = plans.flatMap(({ id, steps }) =>
    steps
      .flatMap((step, at) => {
        const choice = step.choice === null ? null : choiceOf(reading.choices, step.choice, step.page === here);
        const isAnswer = step.choice !== null || step.fields.length > 0;
        const fits =
          isAnswer && (step.choice === null) === (choice === null) && step.fields.every(({ ref }) => hasRef(ref));
        return fits ? [{ planId: id, step, choice, at }] : [];
      })
      .toReversed(),
  );
  const found = fitting.find(({ step }) => step.page === here) ?? fitting[0];
  if (found === undefined) return null;
  // What was picked beside fields (a device beside its code) comes before what was typed into them.
  const picked = fitting.find(
    ({ planId, step, choice, at }) =>
      planId === found.planId && at === found.at - 1 && step.page === found.step.page && choice?.type === 'mfa_method',
  );
  const { planId, step, choice } = found.choice === null ? (picked ?? found) : found;
  return { planId, step, choice };

  function hasRef(ref: string | undefined): boolean {
    return ref !== undefined && refs.has(ref);
  }
}

/** The one of the choices that was taken before; null where none is, or several could be. */
function choiceOf(choices: readonly ReadChoice[], taken: TakenChoice, isSamePage: boolean): ReadChoice | null {
  const [same, another] = choices.filter((choice) => isSameChoice(taken, choice, isSamePage));
  return another === undefined ? (same ?? null) : null;
}

/**
 * What agrees to something was agreed to by a person, for that once: it is no choice to take again. A consent is, where the
 * same page asks the same in the same words: who wants what is in its description. Boxes to tick have new terms behind old words.
 */
function isSameChoice(taken: TakenChoice, choice: ReadChoice, isSamePage: boolean): boolean {
  const isSameConsent =
    isSamePage && choice.description !== null && choice.ticks === undefined && taken.description === choice.description;
  return (
    (choice.type !== 'other' || choice.agrees_to_nothing === true || isSameConsent) &&
    taken.type === choice.type &&
    taken.provider === choice.provider &&
    taken.label === choice.label &&
    taken.masked_destination === choice.masked_destination
  );
}

/**
 * The steps of a login after another one. After an answer that the site refused (`again`) the page's next answer takes its
 * place, and keeps what only the first one gave. Pure.
 */
export function addStep(steps: readonly PlanStep[], step: PlanStep, again: boolean): PlanStep[] {
  const last = steps.at(-1);
  const isRepeated = last !== undefined && last.page === step.page && last.choice?.label === step.choice?.label;
  if (last === undefined || !(again || (isRepeated && step.fields.length === 0))) return [...steps, step];
  const refs = new Set(step.fields.map(({ ref }) => ref));
  const kept = last.page === step.page ? last.fields.filter(({ ref }) => !refs.has(ref)) : [];
  return [...steps.slice(0, -1), { ...step, fields: [...kept, ...step.fields] }];
}

/** Every field that steps have answered. */
export function fieldsOf(steps: readonly PlanStep[]): RequiredField[] {
  return steps.flatMap(({ fields }) => fields);
}

/**
 * The plans after a login that went well. It takes the place of those that began with the same answer: what the site asks
 * after it has changed. A picker that was not shown this time may be shown the next, so its answer is kept. Pure.
 */
export function rememberPlan(plans: readonly LoginPlan[], walked: Omit<LoginPlan, 'failures'>): LoginPlan[] {
  const { steps } = walked;
  const sameBeginning = (plan: LoginPlan): boolean => beginning(plan.steps) === beginning(steps);
  const met = new Set(steps.map(({ choice }) => nameOf(choice)));
  const unmet = (plans.find(sameBeginning)?.steps ?? []).filter(
    ({ choice, fields }) => choice !== null && fields.length === 0 && !met.has(nameOf(choice)),
  );
  const fresh: LoginPlan = { ...walked, steps: [...steps, ...unmet], failures: { count: 0, credential: null } };
  return [fresh, ...plans.filter((plan) => !sameBeginning(plan))].slice(0, MAX_PLANS);
}

/** What kind of picker an answer was given to; each consent is one of its own. */
function nameOf(choice: TakenChoice | null): string {
  return `${choice?.type ?? ''} ${choice?.description ?? ''}`;
}

function beginning([first]: readonly PlanStep[]): string {
  const refs = (first?.fields ?? []).map(({ ref }) => ref).join(' ');
  return `${first?.page ?? ''} ${refs} ${first?.choice?.type ?? ''} ${first?.choice?.provider ?? ''}`;
}

/** The plans after a REAUTH that `id` did not lead through. Pure. */
export function notePlanFailure(
  plans: readonly LoginPlan[],
  id: string,
  credential: CredentialVersion | null,
): LoginPlan[] {
  return plans.map((plan) =>
    plan.id === id ? { ...plan, failures: { count: plan.failures.count + 1, credential } } : plan,
  );
}

/**
 * Ends of a REAUTH that say that the site does not go the way of the plan; the others have reasons of their own. A page that tells of
 * a fault (`website_error`) says nothing of the way: it passes, so it is waited for.
 */
const PLAN_FAILURES: readonly FlowErrorCode[] = [
  'login_form_not_found',
  'element_not_found',
  'stuck_in_loop',
  'max_steps_exceeded',
];

/** True of an end that counts against the plan. */
export function isPlanFailure(code: FlowErrorCode): boolean {
  return PLAN_FAILURES.includes(code);
}

/** The plans that a connection's memory holds; what rows hold that are older than plans is made one. */
export function plansOf({ plans, requirements }: Pick<ReauthMemory, 'plans' | 'requirements'>): LoginPlan[] {
  if (plans !== undefined) return plans;
  const steps = requirements === null || requirements === undefined ? [] : stepsOf(requirements);
  return steps.length === 0
    ? []
    : [{ id: 'before_plans', credential_id: null, steps, failures: { count: 0, credential: null } }];
}

/** Steps made of what older records say of a login. */
export function stepsOf({ fields, choices = [], externalAction }: LoginRequirements): PlanStep[] {
  const nothing: PlanStep = { page: null, fields: [], choice: null, external: false };
  const pages = new Map<number, PlanStep>();
  for (const [index, { step = -index, ...field }] of fields.entries()) {
    const page = pages.get(step) ?? { ...nothing, fields: [] };
    page.fields.push({ ...field, ref: field.ref ?? commonRef(field), answered_by: 'person' });
    pages.set(step, page);
  }
  return [
    ...choices.map((choice): PlanStep => ({ ...nothing, choice: { ...choice, answered_by: 'person' } })),
    ...pages.values(),
    ...(externalAction ? [{ ...nothing, external: true }] : []),
  ];
}
