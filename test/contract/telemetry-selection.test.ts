import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TelemetrySelection } from '../../contract/telemetry-selection.ts';
import { selectionOnCreate, selectionOnUpdate, selectionView } from '../../contract/telemetry-selection.ts';
import type { TelemetryCategory } from '../../contract/telemetry.ts';
import { OPERATIONAL_CATEGORIES, TELEMETRY_CATEGORIES, TelemetryRequest } from '../../contract/telemetry.ts';

const on = { enabled: true };
const off = { enabled: false };
const DEFAULTS = [...OPERATIONAL_CATEGORIES];
const allOff = Object.fromEntries(TELEMETRY_CATEGORIES.map((category) => [category, off]));
const defaultsOff = { control: off, connection: off, system: off, captcha: off };

const sorted = (selection: TelemetrySelection | null): TelemetryCategory[] | null =>
  selection === null ? null : [...selection].toSorted();
const of = (...categories: TelemetryCategory[]): TelemetrySelection => new Set(categories);

describe('the categories of a new session', () => {
  it.each<[string, unknown, TelemetryCategory[] | null]>([
    ['nothing asked', undefined, null],
    ['null', null, null],
    ['an empty object', {}, null],
    ['enabled', { enabled: true }, DEFAULTS],
    ['enabled, empty settings', { enabled: true, browser: {} }, DEFAULTS],
    ['empty settings alone', { browser: {} }, DEFAULTS],
    ['not enabled', { enabled: false }, null],
    ['not enabled, empty settings', { enabled: false, browser: {} }, null],
    ['one opted in', { browser: { console: on } }, [...DEFAULTS, 'console']],
    ['enabled, one opted in', { enabled: true, browser: { console: on } }, [...DEFAULTS, 'console']],
    ['one opted out', { browser: { control: off } }, ['connection', 'system', 'captcha']],
    ['one in, one out', { browser: { page: on, captcha: off } }, ['control', 'connection', 'system', 'page']],
    ['a category without its flag', { browser: { network: {}, control: {} } }, DEFAULTS],
    ['the default set off', { browser: defaultsOff }, null],
    ['the default set off, another on', { browser: { ...defaultsOff, platform: on } }, ['platform']],
    ['all off', { enabled: true, browser: allOff }, null],
  ])('%s', (_, request, expected) => {
    const selection = selectionOnCreate(TelemetryRequest.nullish().parse(request));
    expect(sorted(selection)).toEqual(expected?.toSorted() ?? null);
  });

  it('cannot be both off and selected', () => {
    const refused = TelemetryRequest.safeParse({ enabled: false, browser: { console: off } });
    expect(refused.error?.issues[0]?.path).toEqual(['enabled']);
  });
});

describe('the categories of a session after a change', () => {
  const busy = of('control', 'network', 'screenshot');
  it.each<[string, TelemetrySelection | null, unknown, TelemetryCategory[] | null]>([
    ['nothing said', busy, undefined, ['control', 'network', 'screenshot']],
    ['null', busy, null, ['control', 'network', 'screenshot']],
    ['an empty object', busy, {}, ['control', 'network', 'screenshot']],
    ['an empty object, nothing captured', null, {}, null],
    ['empty settings', busy, { browser: {} }, ['control', 'network', 'screenshot']],
    ['empty settings, nothing captured', null, { browser: {} }, DEFAULTS],
    ['merged on', busy, { browser: { console: on } }, ['control', 'network', 'screenshot', 'console']],
    ['merged off', busy, { browser: { network: off } }, ['control', 'screenshot']],
    ['merged without a flag', busy, { browser: { network: {}, page: {} } }, ['control', 'network', 'screenshot']],
    ['merged, nothing captured', null, { browser: { console: on } }, [...DEFAULTS, 'console']],
    ['merged off, nothing captured', null, { browser: { system: off } }, ['control', 'connection', 'captcha']],
    ['enabled starts afresh', busy, { enabled: true }, DEFAULTS],
    ['enabled with settings starts afresh', busy, { enabled: true, browser: { page: on } }, [...DEFAULTS, 'page']],
    ['not enabled', busy, { enabled: false }, null],
    ['not enabled, nothing captured', null, { enabled: false }, null],
    ['the last one off', of('page'), { browser: { page: off } }, null],
    ['all off', busy, { browser: allOff }, null],
  ])('%s', (_, current, request, expected) => {
    const selection = selectionOnUpdate(current, TelemetryRequest.nullish().parse(request));
    expect(sorted(selection)).toEqual(expected?.toSorted() ?? null);
  });

  it('is the last requested value of each category, in any order of changes', () => {
    const flags = fc.dictionary(fc.constantFrom(...TELEMETRY_CATEGORIES), fc.record({ enabled: fc.boolean() }));
    fc.assert(
      fc.property(flags, flags, (first, second) => {
        const created = selectionOnCreate(TelemetryRequest.parse({ enabled: true, browser: first }));
        const before = selectionView(created)?.browser;
        const after = selectionView(selectionOnUpdate(created, TelemetryRequest.parse({ browser: second })))?.browser;
        for (const category of TELEMETRY_CATEGORIES) {
          const unnamed = before ?? selectionView(selectionOnCreate({ enabled: true }))?.browser;
          const expected = second[category]?.enabled ?? unnamed?.[category].enabled;
          expect(after?.[category].enabled ?? false).toBe(expected);
        }
      }),
    );
  });
});
