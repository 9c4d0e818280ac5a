import { request } from 'undici';
import { z } from 'zod';
import { SolverTaskId } from '../../../contract/captcha-solves.ts';
import type { Widget, WidgetType } from './widget.ts';

/** Where a solver answers, as the operator has set it, and the key that it knows the operator by. */
export interface CaptchaSolverSettings {
  readonly url: string;
  readonly key: string | undefined;
}

/** A solver's name for a task. */
export type SolverTaskId = z.infer<typeof SolverTaskId>;

/** What a solver says of a new task: taken, or why not (an error code, fit to be told). */
export type TaskBegun = { taskId: SolverTaskId } | { error: string };

/** How far a task is. The token is a secret of the page that asked: it goes there and nowhere else. */
export type TaskState =
  | { state: 'processing' }
  | { state: 'ready'; token: string }
  | { state: 'failed'; error: string };

/** A captcha solver behind the HTTP interface that most of them share (`createTask`, `getTaskResult`). Never throws. */
export interface CaptchaSolver {
  /** Has a widget of the page at that address solved. */
  begin(widget: Widget, pageUrl: string, signal: AbortSignal): Promise<TaskBegun>;
  /** Asks once how far a task is. A solver that does not answer now may do so at the next look. */
  look(taskId: SolverTaskId, signal: AbortSignal): Promise<TaskState>;
}

/** Longest that one answer may take, in milliseconds: it says how far the work is, it does not wait for it. */
const ANSWER_TIMEOUT_MS = 15_000;

const TASKS: Record<WidgetType, { usual: string; enterprise: string }> = {
  recaptcha_v2: { usual: 'RecaptchaV2TaskProxyless', enterprise: 'RecaptchaV2EnterpriseTaskProxyless' },
  recaptcha_v3: { usual: 'RecaptchaV3TaskProxyless', enterprise: 'RecaptchaV3TaskProxyless' },
  hcaptcha: { usual: 'HCaptchaTaskProxyless', enterprise: 'HCaptchaTaskProxyless' },
  turnstile: { usual: 'TurnstileTaskProxyless', enterprise: 'TurnstileTaskProxyless' },
};
/** The score that sites ask of reCAPTCHA v3 by default is 0.5. */
const SCORE = 0.7;

const Refusal = z.object({
  errorId: z.int().refine((id) => id !== 0),
  errorCode: z.string().optional().catch(undefined),
});
const Begun = z.object({ errorId: z.literal(0), taskId: SolverTaskId });
/** As it may be put into a field of a page: one line of printable ASCII. */
const Token = z.string().regex(/^[\x21-\x7e]{1,16384}$/);
const Looked = z.discriminatedUnion('status', [
  z.object({ errorId: z.literal(0), status: z.enum(['processing', 'idle']) }),
  z.object({
    errorId: z.literal(0),
    status: z.literal('ready'),
    solution: z.union([
      z.object({ gRecaptchaResponse: Token }).transform(({ gRecaptchaResponse: token }) => token),
      z.object({ token: Token }).transform(({ token }) => token),
    ]),
  }),
]);

/** Why a task was not taken or failed, where the solver does not say so. */
const UNREACHABLE = 'solver_unreachable';
const UNUSABLE = 'solver_answer_unusable';
const REFUSED = 'solver_refused';

/** Makes the client of the operator's solver. */
export function createCaptchaSolver(settings: CaptchaSolverSettings, timeoutMs = ANSWER_TIMEOUT_MS): CaptchaSolver {
  const ask = (method: string, body: object, signal: AbortSignal): Promise<Answer> =>
    post(`${settings.url}/${method}`, { clientKey: settings.key ?? '', ...body }, timeoutMs, signal);
  return {
    async begin(widget, pageUrl, signal) {
      const answer = await ask('createTask', { task: taskOf(widget, pageUrl) }, signal);
      if (answer.said === null) return { error: UNREACHABLE };
      const begun = Begun.safeParse(answer.said);
      return begun.success ? { taskId: begun.data.taskId } : { error: errorOf(answer.said) };
    },
    async look(taskId, signal) {
      const answer = await ask('getTaskResult', { taskId }, signal);
      if (answer.said === null) return { state: 'processing' };
      const looked = Looked.safeParse(answer.said);
      if (!looked.success) return { state: 'failed', error: errorOf(answer.said) };
      return looked.data.status === 'ready' ? { state: 'ready', token: looked.data.solution } : { state: 'processing' };
    },
  };
}

function taskOf({ type, siteKey, invisible, enterprise }: Widget, pageUrl: string): object {
  return {
    type: TASKS[type][enterprise ? 'enterprise' : 'usual'],
    websiteURL: pageUrl,
    websiteKey: siteKey,
    ...(invisible ? { isInvisible: true } : {}),
    ...(type === 'recaptcha_v3' ? { minScore: SCORE, ...(enterprise ? { isEnterprise: true } : {}) } : {}),
  };
}

/** A solver's own word for what is wrong, where it is one word. */
function errorOf(said: unknown): string {
  const refusal = Refusal.safeParse(said);
  if (!refusal.success) return UNUSABLE;
  const code = refusal.data.errorCode ?? '';
  return /^[A-Z][A-Z0-9_]{2,79}$/.test(code) ? code : REFUSED;
}

/** What was answered; null when there is no answer, or the solver is out of order: another try may go well. */
interface Answer {
  said: unknown;
}

/** Redirects are not followed: key and token pass between us and the address that was configured alone. */
async function post(url: string, body: object, timeoutMs: number, cancelled: AbortSignal): Promise<Answer> {
  const signal = AbortSignal.any([cancelled, AbortSignal.timeout(timeoutMs)]);
  try {
    const { statusCode, body: answered } = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
    if (statusCode >= 500 || statusCode === 429) {
      await answered.dump({ limit: 64 * 1024, signal });
      return { said: null };
    }
    const text = await answered.text();
    return { said: jsonOf(text) };
  } catch {
    // What was thrown may quote the request, and the key with it.
    return { said: null };
  }
}

/** An answer that is no JSON is one all the same: it says that nothing of use answers there. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
