import { describe, expect, it } from 'vitest';
import { linearPath, smoothPath } from '../../browser/computer/mouse-path.ts';
import { keyOfCharacter, keyOfName, parseCombination } from '../../browser/computer/keys.ts';
import fc from 'fast-check';

const codes = (text: string): unknown => {
  const parsed = parseCombination(text);
  return 'keys' in parsed ? parsed.keys.map((key) => key.definition.code) : parsed;
};

describe('keys', () => {
  it('knows every printable ASCII character', () => {
    for (let code = 32; code < 127; code += 1) {
      const character = String.fromCharCode(code);
      expect(keyOfCharacter(character)?.definition.text, character).toBe(character);
    }
  });

  it.each([
    ['Return', ['Enter']],
    ['KP_Enter', ['NumpadEnter']],
    ['BackSpace', ['Backspace']],
    ['Escape', ['Escape']],
    ['Tab', ['Tab']],
    ['Page_Down', ['PageDown']],
    ['Next', ['PageDown']],
    ['Prior', ['PageUp']],
    ['ArrowLeft', ['ArrowLeft']],
    ['Up', ['ArrowUp']],
    ['F5', ['F5']],
    ['F12', ['F12']],
    ['space', ['Space']],
    ['Ctrl+a', ['ControlLeft', 'KeyA']],
    ['ctrl+A', ['ControlLeft', 'KeyA']],
    ['Control_R+Shift_L+Tab', ['ControlRight', 'ShiftLeft', 'Tab']],
    ['super+l', ['MetaLeft', 'KeyL']],
    ['Alt+F4', ['AltLeft', 'F4']],
    ['+', ['Equal']],
    ['Ctrl++', ['ControlLeft', 'Equal']],
    ['Ctrl+minus', ['ControlLeft', 'Minus']],
    ['-', ['Minus']],
    ['_', ['Minus']],
    ['Ctrl+period', ['ControlLeft', 'Period']],
    ['cmd+c', ['MetaLeft', 'KeyC']],
  ])('reads %s', (text, expected) => {
    expect(codes(text)).toEqual(expected);
  });

  it.each(['', 'Ctrl+', 'nonsense', 'Ctrl+nonsense', 'é', 'constructor', '__proto__'])('does not know %j', (text) => {
    expect(codes(text)).toHaveProperty('unknown');
  });

  it('reads any text without failing', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseCombination(text)));
    expect(keyOfName('Shift')?.definition.modifier).toBe(8);
  });
});

describe('paths', () => {
  const point = fc.record({
    x: fc.double({ min: 0, max: 4000, noNaN: true }),
    y: fc.double({ min: 0, max: 4000, noNaN: true }),
  });
  it('end exactly at the target and stay near the line', () => {
    fc.assert(
      fc.property(point, point, fc.double({ min: 0, max: 1, noNaN: true }), (from, to, chance) => {
        const path = smoothPath(from, to, () => chance);
        expect(path.at(-1)).toEqual(to);
        const reach = Math.hypot(to.x - from.x, to.y - from.y) * 0.2 + 1;
        for (const { x, y } of path) {
          expect(x).toBeGreaterThanOrEqual(0);
          expect(x).toBeLessThanOrEqual(Math.max(from.x, to.x) + reach);
          expect(y).toBeLessThanOrEqual(Math.max(from.y, to.y) + reach);
        }
      }),
    );
    expect(linearPath({ x: 0, y: 0 }, { x: 10, y: 20 }, 2)).toEqual([
      { x: 5, y: 10 },
      { x: 10, y: 20 },
    ]);
  });
});
