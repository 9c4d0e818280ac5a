import { describe, expect, it } from 'vitest';
import type { TimelineEvent } from '../../contract/connections.ts';
import type { ConnectionDocument, FlowState } from '../../contract/document.ts';
import { deriveWebhookEvents, type RecordedChange } from '../../store/webhook-events.ts';
import { documentOf } from './databases.ts';

const FLOW: FlowState = {
  flow_id: 'flow_1',
  flow_type: 'REAUTH',
  flow_status: 'IN_PROGRESS',
  flow_step: 'DISCOVERING',
  flow_expires_at: '2026-01-01T00:20:00.000Z',
  started_at: '2026-01-01T00:00:00.000Z',
  browser_session_id: null,
  live_view_url: 'https://holdfast.example/live?jwt=secret',
  interaction: null,
  external_action_message: null,
  sso_provider: null,
  error_code: null,
  error_message: null,
  website_error: 'The site says something',
};
const flowEvent = (status: TimelineEvent['status'], more: Partial<TimelineEvent> = {}): TimelineEvent => ({
  id: 'evt_flow_1',
  type: 'reauth',
  status,
  timestamp: FLOW.started_at,
  flow_id: 'flow_1',
  ...more,
});
const check = (id: string, status: TimelineEvent['status'], code?: string): TimelineEvent => ({
  id,
  type: 'health_check',
  status,
  timestamp: FLOW.started_at,
  ...(code === undefined ? {} : { error_code: code }),
});
const at = (status: ConnectionDocument['status'], flow: FlowState | null = null) =>
  documentOf('conn_1', 1, { status, flow });

function told(change: Partial<RecordedChange>): string[] {
  return deriveWebhookEvents({
    before: at('AUTHENTICATED'),
    after: at('AUTHENTICATED'),
    timeline: [],
    stored: [],
    lastCheck: null,
    ...change,
  }).map(({ type }) => type.slice('connection.'.length));
}

describe('deriveWebhookEvents', () => {
  it.each<[string, Partial<RecordedChange>, string[]]>([
    ['nothing new', { timeline: [check('a', 'AUTHENTICATED')] }, []],
    [
      'a session that a check found expired',
      { after: at('NEEDS_AUTH'), timeline: [check('a', 'NEEDS_AUTH', 'session_expired')] },
      ['needs_auth'],
    ],
    [
      'a check that could not tell, told once',
      { timeline: [check('a', 'AUTHENTICATED', 'network_error')] },
      ['check_failed'],
    ],
    [
      'the same check, stored before',
      {
        timeline: [check('a', 'AUTHENTICATED', 'network_error')],
        stored: [check('a', 'AUTHENTICATED', 'network_error')],
      },
      [],
    ],
    [
      'a check that can tell again',
      { timeline: [check('b', 'AUTHENTICATED')], lastCheck: check('a', 'AUTHENTICATED', 'bot_detected') },
      ['recovered'],
    ],
    [
      'a re-authentication that worked',
      { before: at('NEEDS_AUTH', FLOW), timeline: [flowEvent('SUCCESS')], stored: [flowEvent('IN_PROGRESS')] },
      ['flow_ended', 'authenticated', 'recovered'],
    ],
    [
      'a login that worked: somebody was there',
      { before: at('NEEDS_AUTH'), timeline: [flowEvent('SUCCESS', { type: 'login' })] },
      ['flow_ended', 'authenticated'],
    ],
    [
      'a flow that failed, told once',
      {
        before: at('NEEDS_AUTH'),
        after: at('NEEDS_AUTH'),
        timeline: [flowEvent('FAILED', { error_code: 'sms_code_required' })],
        stored: [flowEvent('FAILED')],
      },
      [],
    ],
    [
      'all that happened while the store was away',
      {
        timeline: [check('a', 'NEEDS_AUTH', 'session_expired'), flowEvent('FAILED'), flowEvent('SUCCESS', { id: 'b' })],
      },
      ['needs_auth', 'flow_ended', 'flow_ended', 'authenticated', 'recovered'],
    ],
    ['a status that no event of the timeline explains', { before: at('NEEDS_AUTH') }, ['authenticated']],
  ])('%s', (_what, change, expected) => {
    expect(told(change)).toEqual(expected);
  });

  it('reports each interaction once, without page text or input', () => {
    const interaction = {
      interaction_id: 'int_1',
      fields: [{ id: 'f', ref: 'code', type: 'code' as const, reason: 'missing' as const, label: 'Code for Anna' }],
      choices: [],
      discovered_fields: [],
      mfa_options: [],
      pending_sso_buttons: [],
      sign_in_options: [],
    };
    const waits = at('NEEDS_AUTH', { ...FLOW, flow_step: 'AWAITING_INPUT', interaction });
    const [event, ...others] = deriveWebhookEvents({
      before: at('NEEDS_AUTH', FLOW),
      after: waits,
      timeline: [flowEvent('IN_PROGRESS')],
      stored: [],
      lastCheck: null,
    });
    expect(others).toEqual([]);
    expect(event).toEqual({
      type: 'connection.awaiting_input',
      data: {
        connection_id: 'conn_1',
        project_id: waits.project_id,
        status: 'NEEDS_AUTH',
        can_reauth: waits.can_reauth,
        can_reauth_reason: waits.can_reauth_reason,
        flow_id: 'flow_1',
        flow_type: 'REAUTH',
        flow_status: 'IN_PROGRESS',
        flow_step: 'AWAITING_INPUT',
        interaction_id: 'int_1',
      },
    });
    expect(told({ before: waits, after: waits })).toEqual([]);
  });
});
