import { describe, expect, it } from 'vitest';
import { ReadCdpCommandData } from '../../contract/telemetry-commands.ts';
import { TelemetryEnvelope } from '../../contract/telemetry-events.ts';

const envelope = (type: string, category: string, data?: unknown): unknown => ({
  seq: 1,
  event: {
    ts: 1_700_000_000_000_000,
    type,
    category,
    source: { kind: 'cdp' },
    ...(data === undefined ? {} : { data }),
  },
});

describe('a parsed event', () => {
  it('may name the vertical coordinate as YAML does', () => {
    const data = { method: 'Input.dispatchMouseEvent', event_type: 'mouseMoved', x: 1, true: 2.5 };
    expect(ReadCdpCommandData.parse(data)).toEqual({
      method: 'Input.dispatchMouseEvent',
      event_type: 'mouseMoved',
      x: 1,
      y: 2.5,
    });
    expect(TelemetryEnvelope.safeParse(envelope('cdp_command', 'control', data)).success).toBe(true);
  });

  it('has no property that its command does not have', () => {
    const data = { method: 'Input.insertText', text_length: 3 };
    expect(ReadCdpCommandData.safeParse(data).success).toBe(true);
    expect(ReadCdpCommandData.safeParse({ ...data, text: 'abc' }).success).toBe(false);
    expect(ReadCdpCommandData.safeParse({ ...data, session_id: 'x'.repeat(129) }).success).toBe(false);
  });

  it.each([
    ['cdp_connect', 'connection', undefined, true],
    ['cdp_connect', 'control', undefined, false],
    ['cdp_disconnect', 'connection', { duration_ms: 1, message_count: 0, reason: 'client_close' }, true],
    ['cdp_disconnect', 'connection', { duration_ms: 1, message_count: 0, reason: 'bored' }, false],
    ['api_call', 'control', { request_id: 'r', operation_id: 'ClickMouse', status: 200, duration_ms: 1.5 }, true],
    ['api_call', 'control', { request_id: 'r', operation_id: 'ClickMouse', status: 200 }, false],
    ['captcha_challenge_result', 'captcha', { captcha_type: 'turnstile', status: 'abandoned', duration_ms: 1 }, false],
    ['of_a_later_version', 'control', { anything: true }, true],
  ])('%s of %s with %j: %s', (type, category, data, good) => {
    expect(TelemetryEnvelope.safeParse(envelope(type, category, data)).success).toBe(good);
  });
});
