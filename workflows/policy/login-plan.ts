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

/** This many consecutive failures retire a plan: the site no longer works that way. */
const MAX_FAILURES = 2;
/** Most plans that a connection remembers, newest first. */
const MAX_PLANS = 3;

/** True until a plan has failed too often to be followed. */
export function isViable({ failures }: LoginPlan): boolean {
  return failures.count < MAX_FAILURES;
}

/** The stable part of a page's address: origin and path, with id-like segments replaced. Pure. */
export function pageShape(url: string): string {
  const [, origin = '', path = ''] = /^([^/]*\/\/[^/?#]*)([^?#]*)/.exec(url) ?? [];
  const segments = path.split('/').map((segment) => (looksLikeId(segment) ? '*' : segment));
  return `${origin}${segments.join('/')}`;
}

function looksLikeId(segment: string): boolean {
  return /^\d+$/.test(segment) || segment.length > 24 || (/^[\w-]{8,}$/.test(segment) && /\d.*\d/.test(segment));
}

/** The step for a page that waited for an action elsewhere; only a mailed link can be followed unattended. */
export function externalStep({ url, mailed_link: isLink }: PageReading): PlanStep {
  const step: PlanStep = { page: pageShape(url), fields: [], choice: null, external: true };
  return isLink === true ? { ...step, mailed_link: true } : step;
}

/** A step of a plan that fits the current page. */
export interface PlannedStep {
  planId: string;
  step: PlanStep;
  /** The choice of the page that the step takes. */
  choice: ReadChoice | null;
}

/** The step of the plans that fits a page, preferably a late one recorded on this page. Null if none fits. Pure. */
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
  // A choice beside fields (a device beside its code) comes before what was typed into them.
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

/** The choice that was taken before; null if it is not offered, or is ambiguous. */
function choiceOf(choices: readonly ReadChoice[], taken: TakenChoice, isSamePage: boolean): ReadChoice | null {
  const [same, another] = choices.filter((choice) => isSameChoice(taken, choice, isSamePage));
  return another === undefined ? (same ?? null) : null;
}

/** A consent is repeated only if the same page asks in the same words, but never by checkboxes: their terms may change. */
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

/** The steps plus another one. After a rejected one (`again`) it replaces that, keeping its other fields. Pure. */
export function addStep(steps: readonly PlanStep[], step: PlanStep, again: boolean): PlanStep[] {
  const last = steps.at(-1);
  const isRepeated = last !== undefined && last.page === step.page && last.choice?.label === step.choice?.label;
  if (last === undefined || !(again || (isRepeated && step.fields.length === 0))) return [...steps, step];
  const refs = new Set(step.fields.map(({ ref }) => ref));
  const kept = last.page === step.page ? last.fields.filter(({ ref }) => !refs.has(ref)) : [];
  return [...steps.slice(0, -1), { ...step, fields: [...kept, ...step.fields] }];
}

/** Every field that the steps answered. */
export function fieldsOf(steps: readonly PlanStep[]): RequiredField[] {
  return steps.flatMap(({ fields }) => fields);
}

/**
 * The plans after a successful login. It replaces those that began with the same answer, whose later pages have changed. The
 * answer to a picker that was not shown this time is kept, because it may be shown again. Pure.
 */
export function rememberPlan(plans: readonly LoginPlan[], walked: Omit<LoginPlan, 'failures'>): LoginPlan[] {
  const { steps } = walked;
  const isSameStart = (plan: LoginPlan): boolean => startOf(plan.steps) === startOf(steps);
  const seen = new Set(steps.map(({ choice }) => pickerOf(choice)));
  const unseen = (plans.find(isSameStart)?.steps ?? []).filter(
    ({ choice, fields }) => choice !== null && fields.length === 0 && !seen.has(pickerOf(choice)),
  );
  const fresh: LoginPlan = { ...walked, steps: [...steps, ...unseen], failures: { count: 0, credential: null } };
  return [fresh, ...plans.filter((plan) => !isSameStart(plan))].slice(0, MAX_PLANS);
}

/** The kind of picker that a choice was made in; each consent is a kind of its own. */
function pickerOf(choice: TakenChoice | null): string {
  return `${choice?.type ?? ''} ${choice?.description ?? ''}`;
}

function startOf([first]: readonly PlanStep[]): string {
  const refs = (first?.fields ?? []).map(({ ref }) => ref).join(' ');
  return `${first?.page ?? ''} ${refs} ${first?.choice?.type ?? ''} ${first?.choice?.provider ?? ''}`;
}

/** The plans after a REAUTH that failed with the plan `id`. Pure. */
export function notePlanFailure(
  plans: readonly LoginPlan[],
  id: string,
  credential: CredentialVersion | null,
): LoginPlan[] {
  return plans.map((plan) =>
    plan.id === id ? { ...plan, failures: { count: plan.failures.count + 1, credential } } : plan,
  );
}

/** Errors that mean the site no longer follows the plan. A `website_error` does not count: it is temporary. */
const PLAN_FAILURES: readonly FlowErrorCode[] = [
  'login_form_not_found',
  'element_not_found',
  'stuck_in_loop',
  'max_steps_exceeded',
];

/** True for an error that counts against the plan. */
export function isPlanFailure(code: FlowErrorCode): boolean {
  return PLAN_FAILURES.includes(code);
}

/** The plans in a connection's memory; rows older than plans are converted. */
export function plansOf({ plans, requirements }: Pick<ReauthMemory, 'plans' | 'requirements'>): LoginPlan[] {
  if (plans !== undefined) return plans;
  const steps = requirements === null || requirements === undefined ? [] : stepsOf(requirements);
  return steps.length === 0
    ? []
    : [{ id: 'before_plans', credential_id: null, steps, failures: { count: 0, credential: null } }];
}

/** Steps converted from older records of a login. */
export function stepsOf({ fields, choices = [], externalAction }: LoginRequirements): PlanStep[] {
  const empty: PlanStep = { page: null, fields: [], choice: null, external: false };
  const pages = new Map<number, PlanStep>();
  for (const [index, { step = -index, ...field }] of fields.entries()) {
    const page = pages.get(step) ?? { ...empty, fields: [] };
    page.fields.push({ ...field, ref: field.ref ?? commonRef(field), answered_by: 'person' });
    pages.set(step, page);
  }
  return [
    ...choices.map((choice): PlanStep => ({ ...empty, choice: { ...choice, answered_by: 'person' } })),
    ...pages.values(),
    ...(externalAction ? [{ ...empty, external: true }] : []),
  ];
}
