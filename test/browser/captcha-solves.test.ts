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

/** What a session tells of a solver, each event held against the interface's shape. */
function solvesOf(challenge: string | undefined) {
  const telemetry = createSessionTelemetry({ selection: new Set(['captcha']), private: true });
  telemetry.setChallengeFinder((type) => (type === 'turnstile' ? challenge : undefined));
  const told = () =>
    telemetry.log
      .kept()
      .map(({ seq, json }) => TelemetryEnvelope.parse({ seq, event: JSON.parse(json) as unknown }).event);
  return { solves: createCaptchaSolves(telemetry), told };
}

it('tells when a solver takes a task and when it is done, once each, with the challenge that they are of', () => {
  const { solves, told } = solvesOf('challenge-1');
  solves.record(STARTED);
  solves.record(STARTED);
  for (const _again of [1, 2]) solves.record({ state: 'ended', task_id: '4711', status: 'success' });
  const { state: _state, ...task } = STARTED;
  const about = { ...task, challenge_id: 'challenge-1' };
  expect(told().map(({ type, category, data }) => [type, category, data])).toEqual([
    ['captcha_solve_started', 'captcha', about],
    ['captcha_solve_result', 'captcha', { ...about, status: 'success', duration_ms: expect.any(Number) as unknown }],
  ]);
});

it('says why a solver failed, and nothing of a challenge that nobody saw', () => {
  const { solves, told } = solvesOf(undefined);
  solves.record(STARTED);
  solves.record({ state: 'ended', task_id: '4711', status: 'failure', error_code: 'ERROR_ZERO_BALANCE' });
  expect(told()[1]?.data).toMatchObject({ status: 'failure', error_code: 'ERROR_ZERO_BALANCE' });
  for (const { data } of told()) expect(data).not.toHaveProperty('challenge_id');
});

it('calls a task abandoned that the session ends over', () => {
  const { solves, told } = solvesOf('challenge-1');
  solves.record(STARTED);
  solves.record({ state: 'ended', task_id: 'of somebody else', status: 'success' });
  solves.stop();
  solves.stop();
  expect(told().map(({ data }) => data)).toMatchObject([{ task_id: '4711' }, { task_id: '4711', status: 'abandoned' }]);
});
