import { request } from 'undici';
import { z } from 'zod';
import { SolverTaskId } from '../../../contract/captcha-solves.ts';
import type { Widget, WidgetType } from './widget.ts';

/** URL and API key of the operator's solver. */
export interface CaptchaSolverSettings {
  readonly url: string;
  readonly key: string | undefined;
}

type SolverTaskId = z.infer<typeof SolverTaskId>;

/** A new task, or an error code that is safe to report. */
export type TaskCreated = { taskId: SolverTaskId } | { error: string };

/** State of a task. The token is a secret that goes to the page and nowhere else. */
export type TaskState =
  | { state: 'processing' }
  | { state: 'ready'; token: string }
  | { state: 'failed'; error: string };

/** A captcha solver with the HTTP API that most of them share (`createTask`, `getTaskResult`). Never throws. */
export interface CaptchaSolver {
  /** Submits a widget of the page at a URL. */
  createTask(widget: Widget, pageUrl: string, signal: AbortSignal): Promise<TaskCreated>;
  /** Polls a task once. If the solver does not respond, the task counts as processing. */
  getResult(taskId: SolverTaskId, signal: AbortSignal): Promise<TaskState>;
}

/** Timeout of one request, in milliseconds: responses report progress and do not wait for the solution. */
const REQUEST_TIMEOUT_MS = 15_000;

const TASKS: Record<WidgetType, { usual: string; enterprise: string }> = {
  recaptcha_v2: { usual: 'RecaptchaV2TaskProxyless', enterprise: 'RecaptchaV2EnterpriseTaskProxyless' },
  recaptcha_v3: { usual: 'RecaptchaV3TaskProxyless', enterprise: 'RecaptchaV3TaskProxyless' },
  hcaptcha: { usual: 'HCaptchaTaskProxyless', enterprise: 'HCaptchaTaskProxyless' },
  turnstile: { usual: 'TurnstileTaskProxyless', enterprise: 'TurnstileTaskProxyless' },
};
/** The minimum score requested for reCAPTCHA v3; sites require 0.5 by default. */
const SCORE = 0.7;

const Refusal = z.object({
  errorId: z.int().refine((id) => id !== 0),
  errorCode: z.string().optional().catch(undefined),
});
const Created = z.object({ errorId: z.literal(0), taskId: SolverTaskId });
/** One line of printable ASCII, safe to put into a field of a page. */
const Token = z.string().regex(/^[\x21-\x7e]{1,16384}$/);
const TaskResult = z.discriminatedUnion('status', [
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

/** Error codes for when the solver gives none. */
const UNREACHABLE = 'solver_unreachable';
const UNUSABLE = 'solver_answer_unusable';
const REFUSED = 'solver_refused';

/** Creates a client of the operator's solver. */
export function createCaptchaSolver(settings: CaptchaSolverSettings, timeoutMs = REQUEST_TIMEOUT_MS): CaptchaSolver {
  const call = (method: string, params: object, signal: AbortSignal): Promise<unknown> =>
    post(`${settings.url}/${method}`, { clientKey: settings.key ?? '', ...params }, timeoutMs, signal);
  return {
    async createTask(widget, pageUrl, signal) {
      const body = await call('createTask', { task: taskOf(widget, pageUrl) }, signal);
      if (body === null) return { error: UNREACHABLE };
      const created = Created.safeParse(body);
      return created.success ? { taskId: created.data.taskId } : { error: errorOf(body) };
    },
    async getResult(taskId, signal) {
      const body = await call('getTaskResult', { taskId }, signal);
      if (body === null) return { state: 'processing' };
      const result = TaskResult.safeParse(body);
      if (!result.success) return { state: 'failed', error: errorOf(body) };
      return result.data.status === 'ready' ? { state: 'ready', token: result.data.solution } : { state: 'processing' };
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

/** The solver's own error code, if it has the format of one. */
function errorOf(body: unknown): string {
  const refusal = Refusal.safeParse(body);
  if (!refusal.success) return UNUSABLE;
  const code = refusal.data.errorCode ?? '';
  return /^[A-Z][A-Z0-9_]{2,79}$/.test(code) ? code : REFUSED;
}

/** Posts JSON without following redirects, which could leak key and token. Null without a response; undefined if it is not JSON. */
async function post(url: string, params: object, timeoutMs: number, canceled: AbortSignal): Promise<unknown> {
  const signal = AbortSignal.any([canceled, AbortSignal.timeout(timeoutMs)]);
  try {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(params),
      signal,
    });
    if (statusCode >= 500 || statusCode === 429) {
      await body.dump({ limit: 64 * 1024, signal });
      return null;
    }
    return parseJson(await body.text());
  } catch {
    // The error is dropped, because it may quote the request and its key.
    return null;
  }
}

/** The parsed JSON; undefined, never null, for anything else. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
