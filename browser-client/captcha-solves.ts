import type { CaptchaSolve } from '../contract/captcha-solves.ts';
import type { BrowserService } from './service.ts';
import type { SessionTarget } from './sessions.ts';

/** Has the session's telemetry tell of a captcha that a solver works on. Fails where the service does not know of that. */
export async function noteCaptchaSolve(
  service: BrowserService,
  { projectId, sessionId }: SessionTarget,
  body: CaptchaSolve,
): Promise<void> {
  const path = `/captcha_solves/${encodeURIComponent(sessionId)}`;
  await service.call({ method: 'POST', path, projectId, body, schema: null });
}
