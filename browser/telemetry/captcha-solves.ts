import type { CaptchaSolve } from '../../contract/captcha-solves.ts';
import type { CaptchaType } from '../../contract/telemetry-events.ts';
import type { SessionTelemetry } from './session-telemetry.ts';

/** Concurrent solver tasks per session; a login has one. */
const MAX_OPEN = 20;

/** Solvers are external services, reported by a worker through the API. */
const SOURCE = { kind: 'kernel_api' } as const;

interface OpenTask {
  data: { captcha_type: CaptchaType; challenge_id?: string; website_host: string; website_path: string };
  /** From `performance.now()`. */
  startedAt: number;
}

/** Records the work of captcha solvers in a session's telemetry. */
export interface CaptchaSolves {
  /** Records the start or end of a task. Duplicates, and ends of unknown tasks, are ignored. */
  record(report: CaptchaSolve): void;
  /** Records open tasks as abandoned, when the session ends. */
  stop(): void;
}

/** Creates the recorder of a session. */
export function createCaptchaSolves(telemetry: Pick<SessionTelemetry, 'emit' | 'visibleChallengeId'>): CaptchaSolves {
  const open = new Map<string, OpenTask>();
  const end = (id: string, status: Extract<CaptchaSolve, { state: 'ended' }>['status'], error?: string): void => {
    const task = open.get(id);
    if (task === undefined) return;
    open.delete(id);
    telemetry.emit('captcha_solve_result', SOURCE, {
      ...task.data,
      task_id: id,
      status,
      duration_ms: Math.round(performance.now() - task.startedAt),
      ...(status === 'failure' && error !== undefined ? { error_code: error } : {}),
    });
  };
  return {
    record: (report) => {
      if (report.state === 'ended') {
        end(report.task_id, report.status, report.error_code);
        return;
      }
      if (open.has(report.task_id) || open.size >= MAX_OPEN) return;
      const challengeId = telemetry.visibleChallengeId(report.captcha_type);
      const data = {
        captcha_type: report.captcha_type,
        ...(challengeId === undefined ? {} : { challenge_id: challengeId }),
        website_host: report.website_host,
        website_path: report.website_path,
      };
      open.set(report.task_id, { data, startedAt: performance.now() });
      telemetry.emit('captcha_solve_started', SOURCE, { ...data, task_id: report.task_id });
    },
    stop: () => {
      for (const id of open.keys()) end(id, 'abandoned');
    },
  };
}
