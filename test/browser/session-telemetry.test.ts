import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { truncateData, truncateText } from '../../browser/telemetry/truncate.ts';
import { createSessionTelemetry } from '../../browser/telemetry/session-telemetry.ts';
import { DEFAULT_SELECTION } from '../../contract/telemetry-selection.ts';
import { TELEMETRY_STRING_BYTES, TRUNCATION_MARKER } from '../../contract/telemetry.ts';

const SOURCE = { kind: 'local_process' } as const;

describe('the strings of an event', () => {
  it('are truncated to 8,192 bytes between characters, including the marker', () => {
    for (const filler of ['a', 'ü', '漢', '😀', 'a😀ü漢']) {
      for (const shift of ['', 'b', 'bb', 'bbb']) {
        const cut = truncateText(shift + filler.repeat(9000));
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(TELEMETRY_STRING_BYTES);
        expect(Buffer.byteLength(cut)).toBeGreaterThan(TELEMETRY_STRING_BYTES - 8);
        expect(cut.endsWith(TRUNCATION_MARKER)).toBe(true);
        expect(Buffer.from(cut).toString()).toBe(cut);
        expect((shift + filler.repeat(9000)).startsWith(cut.slice(0, -TRUNCATION_MARKER.length))).toBe(true);
      }
    }
  });

  it('are unchanged if they fit', () => {
    const fits = 'ü'.repeat(TELEMETRY_STRING_BYTES / 2);
    expect(truncateText(fits)).toBe(fits);
    expect(truncateText(`${fits}x`)).not.toBe(`${fits}x`);
  });

  it('are also limited in total, whatever the data', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 }).map((part) => part.repeat(300));
    const data = fc.dictionary(fc.string({ maxLength: 300 }), fc.oneof(text, fc.array(text, { maxLength: 150 })));
    fc.assert(
      fc.property(data, (value) => {
        const cut = truncateData(value);
        expect(Buffer.byteLength(JSON.stringify(cut.data))).toBeLessThan(600 * 1024);
        if (!cut.truncated) expect(cut.data).toEqual(value);
      }),
      { numRuns: 50 },
    );
  });

  it('can be in deep or wide values without exceeding the limits', () => {
    let deep: unknown = 'end';
    for (let level = 0; level < 5000; level += 1) deep = { parent: deep };
    expect(truncateData(deep).truncated).toBe(true);
    const wide = Array.from({ length: 1000 }, () => Array.from({ length: 1000 }, () => 'x'));
    expect(JSON.stringify(truncateData(wide).data).length).toBeLessThan(20_000);
  });
});

describe('session telemetry', () => {
  it('captures what is selected, with increasing timestamps', () => {
    let now = 5000;
    const telemetry = createSessionTelemetry({ selection: DEFAULT_SELECTION, private: false, clock: () => now });
    telemetry.emit('cdp_connect', SOURCE, undefined);
    now = 4000;
    telemetry.emit('cdp_connect', SOURCE, { connection_id: 'c' });
    telemetry.emit('network_idle', SOURCE, {});
    telemetry.emit('monitor_init_failed', SOURCE, { step: 'Network.enable' });
    const events = telemetry.log.all().map(({ json }) => JSON.parse(json) as unknown);
    expect(events).toEqual([
      { ts: 5_000_000, type: 'cdp_connect', category: 'connection', source: SOURCE },
      { ts: 5_000_001, type: 'cdp_connect', category: 'connection', source: SOURCE, data: { connection_id: 'c' } },
    ]);
  });

  it('marks truncated events', () => {
    const telemetry = createSessionTelemetry({ selection: new Set(['console']), private: false });
    telemetry.emit('console_log', SOURCE, { text: 'x'.repeat(10_000), level: 'log' });
    telemetry.emit('console_log', SOURCE, { text: 'short', level: 'log' });
    const [long, short] = telemetry.log.all().map(({ json }) => JSON.parse(json) as { truncated?: boolean });
    expect(long).toMatchObject({ truncated: true, data: { level: 'log' } });
    expect(short).not.toHaveProperty('truncated');
  });

  it('captures monitor events while a monitored category is selected, and never screenshots where secrets are typed', async () => {
    const telemetry = createSessionTelemetry({ selection: new Set(['page', 'screenshot']), private: true });
    expect(
      ['page', 'monitor', 'screenshot', 'control'].map((category) => telemetry.captures(category as 'page')),
    ).toEqual([true, true, false, false]);
    await telemetry.select(new Set(['screenshot']));
    expect(telemetry.selection()).toBeNull();
  });
});
