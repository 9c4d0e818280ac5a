import { describe, expect, it } from 'vitest';
import { keyOfCharacter, keyOfName } from '../../browser/computer/keys.ts';
import { keysymOf } from '../../browser/computer/x-input.ts';

const ASCII = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
const NAMES = ['Return', 'KP_Enter', 'Tab', 'BackSpace', 'Escape', 'Delete', 'Insert', 'Home', 'End', 'Page_Up', 'Next']
  .concat(['Left', 'Up', 'Right', 'Down', 'Shift_R', 'Control_L', 'ctrl', 'Alt_R', 'cmd', 'Super_R', 'Caps_Lock'])
  .concat(['Menu', 'Pause', 'Print', 'space', 'F1', 'F12']);

describe('keys at an X server', () => {
  it('have a name for every character of the keyboard, the same with Shift and without', () => {
    for (const character of ASCII) {
      const key = keyOfCharacter(character)?.definition;
      expect(keysymOf(key?.code ?? '')).toMatch(/^[A-Za-z0-9_]+$/);
    }
    expect(
      ['a', 'A', '1', '!', '[', '{'].map((character) => keysymOf(keyOfCharacter(character)?.definition.code ?? '')),
    ).toEqual(['a', 'a', '1', '1', 'bracketleft', 'bracketleft']);
  });

  it.each(NAMES)('have a name for %s', (name) => {
    expect(keysymOf(keyOfName(name)?.definition.code ?? '')).toBeDefined();
  });

  it('have no name if the keyboard lacks them', () => {
    expect(['', 'KeyAB', 'Digit', 'F1;exec', 'Nonsense\nexec'].filter((code) => keysymOf(code) !== undefined)).toEqual(
      [],
    );
  });
});
