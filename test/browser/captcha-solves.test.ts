import { expect, it } from 'vitest';
import { createCaptchaSolves } from '../../browser/telemetry/captcha-solves.ts';
import { createSessionTelemetry } from '../../browser/telemetry/session-telemetry.ts';
import { TelemetryEnvelope } from '../../contract/telemetry-events.ts';

const STARTED = {
  state: 'started',
  task_id: '4711',
  captcha_type: 'turnstile',
  website_host: 'site.example',
  website_path: '/login',
} as const;

/** The solver events of a session, each checked against its schema. */
function solvesOf(challenge: string | undefined) {
  const telemetry = createSessionTelemetry({ selection: new Set(['captcha']), private: true });
  telemetry.setChallengeFinder((type) => (type === 'turnstile' ? challenge : undefined));
  const events = () =>
    telemetry.log
      .all()
      .map(({ seq, json }) => TelemetryEnvelope.parse({ seq, event: JSON.parse(json) as unknown }).event);
  return { solves: createCaptchaSolves(telemetry), events };
}

it('records the start and end of a solver task once each, with the challenge they belong to', () => {
  const { solves, events } = solvesOf('challenge-1');
  solves.record(STARTED);
  solves.record(STARTED);
  for (const _again of [1, 2]) solves.record({ state: 'ended', task_id: '4711', status: 'success' });
  const { state: _state, ...task } = STARTED;
  const about = { ...task, challenge_id: 'challenge-1' };
  expect(events().map(({ type, category, data }) => [type, category, data])).toEqual([
    ['captcha_solve_started', 'captcha', about],
    ['captcha_solve_result', 'captcha', { ...about, status: 'success', duration_ms: expect.any(Number) as unknown }],
  ]);
});

it('records why a solver failed, without a challenge id if no challenge was visible', () => {
  const { solves, events } = solvesOf(undefined);
  solves.record(STARTED);
  solves.record({ state: 'ended', task_id: '4711', status: 'failure', error_code: 'ERROR_ZERO_BALANCE' });
  expect(events()[1]?.data).toMatchObject({ status: 'failure', error_code: 'ERROR_ZERO_BALANCE' });
  for (const { data } of events()) expect(data).not.toHaveProperty('challenge_id');
});

it('records an open task as abandoned when the session ends', () => {
  const { solves, events } = solvesOf('challenge-1');
  solves.record(STARTED);
  solves.record({ state: 'ended', task_id: 'of somebody else', status: 'success' });
  solves.stop();
  solves.stop();
  expect(events().map(({ data }) => data)).toMatchObject([
    { task_id: '4711' },
    { task_id: '4711', status: 'abandoned' },
  ]);
});
