import type { CaptchaSolve } from '../../contract/captcha-solves.ts';
import type { CaptchaType } from '../../contract/telemetry-events.ts';
import type { SessionTelemetry } from './session-telemetry.ts';

/** Tasks of one session that solvers work on at a time: a login has one. */
const MAX_OPEN = 20;

/** Solvers are somebody else's programs, of which a worker tells. */
const SOURCE = { kind: 'kernel_api' } as const;

interface OpenTask {
  about: { captcha_type: CaptchaType; challenge_id?: string; website_host: string; website_path: string };
  /** By the clock that only goes forward, in milliseconds. */
  since: number;
}

/** Tells what solvers make of the captchas of one session. */
export interface CaptchaSolves {
  /** Tells of a task's beginning or end. One that is told twice is told once; the end of an unknown task is nobody's. */
  note(said: CaptchaSolve): void;
  /** The session ends: what solvers still work on is abandoned. */
  stop(): void;
}

export function createCaptchaSolves(telemetry: Pick<SessionTelemetry, 'emit' | 'challengeOf'>): CaptchaSolves {
  const open = new Map<string, OpenTask>();
  const end = (id: string, status: Extract<CaptchaSolve, { state: 'ended' }>['status'], error?: string): void => {
    const task = open.get(id);
    if (task === undefined) return;
    open.delete(id);
    telemetry.emit('captcha_solve_result', SOURCE, {
      ...task.about,
      task_id: id,
      status,
      duration_ms: Math.round(performance.now() - task.since),
      ...(status === 'failure' && error !== undefined ? { error_code: error } : {}),
    });
  };
  return {
    note: (said) => {
      if (said.state === 'ended') {
        end(said.task_id, said.status, said.error_code);
        return;
      }
      if (open.has(said.task_id) || open.size >= MAX_OPEN) return;
      const challengeId = telemetry.challengeOf(said.captcha_type);
      const about = {
        captcha_type: said.captcha_type,
        ...(challengeId === undefined ? {} : { challenge_id: challengeId }),
        website_host: said.website_host,
        website_path: said.website_path,
      };
      open.set(said.task_id, { about, since: performance.now() });
      telemetry.emit('captcha_solve_started', SOURCE, { ...about, task_id: said.task_id });
    },
    stop: () => {
      for (const id of open.keys()) end(id, 'abandoned');
    },
  };
}
