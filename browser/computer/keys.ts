/** One key of a US keyboard, as pages see it. */
export interface KeyDefinition {
  /** `KeyboardEvent.key` without Shift. */
  key: string;
  /** `KeyboardEvent.code`. */
  code: string;
  keyCode: number;
  /** The text it types, if any. */
  text?: string;
  /** 0 standard, 1 left, 2 right, 3 numeric pad. */
  location?: 0 | 1 | 2 | 3;
  /** Its bit in the protocol's modifier field: 1 Alt, 2 Ctrl, 4 Meta, 8 Shift. */
  modifier?: 1 | 2 | 4 | 8;
}

/** A key, and whether Shift is held for it. */
export interface TypedCharacter {
  definition: KeyDefinition;
  shift: boolean;
}

const named = (key: string, code: string, keyCode: number, more: Partial<KeyDefinition> = {}): KeyDefinition => ({
  key,
  code,
  keyCode,
  ...more,
});

/** Printable keys: plain character, shifted character, code, key code. */
const PRINTABLE: readonly (readonly [string, string, string, number])[] = [
  ['`', '~', 'Backquote', 192],
  ['-', '_', 'Minus', 189],
  ['=', '+', 'Equal', 187],
  ['[', '{', 'BracketLeft', 219],
  [']', '}', 'BracketRight', 221],
  ['\\', '|', 'Backslash', 220],
  [';', ':', 'Semicolon', 186],
  ["'", '"', 'Quote', 222],
  [',', '<', 'Comma', 188],
  ['.', '>', 'Period', 190],
  ['/', '?', 'Slash', 191],
  [' ', ' ', 'Space', 32],
  ...Array.from('abcdefghijklmnopqrstuvwxyz').map((letter) => {
    const upper = letter.toUpperCase();
    return [letter, upper, `Key${upper}`, upper.charCodeAt(0)] as const;
  }),
  ...Array.from('0123456789').map((digit) => {
    const shifted = ')!@#$%^&*('[Number(digit)] ?? digit;
    return [digit, shifted, `Digit${digit}`, digit.charCodeAt(0)] as const;
  }),
];

const CHARACTERS: ReadonlyMap<string, TypedCharacter> = new Map(
  PRINTABLE.flatMap(([plain, shifted, code, keyCode]) => {
    const definition = named(plain, code, keyCode, { text: plain });
    const upper = named(shifted, code, keyCode, { text: shifted });
    const entries: [string, TypedCharacter][] = [[plain, { definition, shift: false }]];
    if (shifted !== plain) entries.push([shifted, { definition: upper, shift: true }]);
    return entries;
  }),
);

export const ENTER = named('Enter', 'Enter', 13, { text: '\r' });
export const TAB = named('Tab', 'Tab', 9);
export const SHIFT = named('Shift', 'ShiftLeft', 16, { location: 1, modifier: 8 });

/** Keys by name, in lower case without `_` and `-`: names of X11 (keysyms), the DOM, and common abbreviations. */
const NAMED_KEYS: readonly (readonly [string[], KeyDefinition])[] = [
  [['return', 'enter'], ENTER],
  [['kpenter'], named('Enter', 'NumpadEnter', 13, { text: '\r', location: 3 })],
  [['tab'], TAB],
  [['backspace'], named('Backspace', 'Backspace', 8)],
  [['escape', 'esc'], named('Escape', 'Escape', 27)],
  [['delete', 'del'], named('Delete', 'Delete', 46)],
  [['insert'], named('Insert', 'Insert', 45)],
  [['home'], named('Home', 'Home', 36)],
  [['end'], named('End', 'End', 35)],
  [['pageup', 'prior'], named('PageUp', 'PageUp', 33)],
  [['pagedown', 'next'], named('PageDown', 'PageDown', 34)],
  [['left', 'arrowleft'], named('ArrowLeft', 'ArrowLeft', 37)],
  [['up', 'arrowup'], named('ArrowUp', 'ArrowUp', 38)],
  [['right', 'arrowright'], named('ArrowRight', 'ArrowRight', 39)],
  [['down', 'arrowdown'], named('ArrowDown', 'ArrowDown', 40)],
  ...Array.from({ length: 12 }, (_, index): [string[], KeyDefinition] => {
    const name = `F${String(index + 1)}`;
    return [[name.toLowerCase()], named(name, name, 112 + index)];
  }),
  [['shift', 'shiftl'], SHIFT],
  [['shiftr'], named('Shift', 'ShiftRight', 16, { location: 2, modifier: 8 })],
  [['ctrl', 'control', 'controll'], named('Control', 'ControlLeft', 17, { location: 1, modifier: 2 })],
  [['controlr'], named('Control', 'ControlRight', 17, { location: 2, modifier: 2 })],
  [['alt', 'altl', 'option'], named('Alt', 'AltLeft', 18, { location: 1, modifier: 1 })],
  [['altr'], named('Alt', 'AltRight', 18, { location: 2, modifier: 1 })],
  [
    ['meta', 'metal', 'super', 'superl', 'cmd', 'command', 'win'],
    named('Meta', 'MetaLeft', 91, { location: 1, modifier: 4 }),
  ],
  [['superr'], named('Meta', 'MetaRight', 92, { location: 2, modifier: 4 })],
  [['capslock'], named('CapsLock', 'CapsLock', 20)],
  [['menu'], named('ContextMenu', 'ContextMenu', 93)],
  [['pause'], named('Pause', 'Pause', 19)],
  [['print'], named('PrintScreen', 'PrintScreen', 44)],
  [['space'], named(' ', 'Space', 32, { text: ' ' })],
];
const NAMED: ReadonlyMap<string, KeyDefinition> = new Map(
  NAMED_KEYS.flatMap(([names, definition]) => names.map((name) => [name, definition] as const)),
);

/** X11's names of characters, for combinations. */
const KEYSYM_CHARACTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    exclam: '!',
    quotedbl: '"',
    numbersign: '#',
    dollar: '$',
    percent: '%',
    ampersand: '&',
    apostrophe: "'",
    parenleft: '(',
    parenright: ')',
    asterisk: '*',
    plus: '+',
    comma: ',',
    minus: '-',
    period: '.',
    slash: '/',
    colon: ':',
    semicolon: ';',
    less: '<',
    equal: '=',
    greater: '>',
    question: '?',
    at: '@',
    bracketleft: '[',
    backslash: '\\',
    bracketright: ']',
    asciicircum: '^',
    underscore: '_',
    grave: '`',
    braceleft: '{',
    bar: '|',
    braceright: '}',
    asciitilde: '~',
  }),
);

/** The key that types a character on a US keyboard, if any. */
export function keyOfCharacter(character: string): TypedCharacter | undefined {
  return CHARACTERS.get(character);
}

/** A key by its name or the character it types; undefined if unknown. */
export function keyOfName(name: string): TypedCharacter | undefined {
  const character = CHARACTERS.get(name) ?? CHARACTERS.get(KEYSYM_CHARACTERS.get(name.toLowerCase()) ?? '');
  if (character !== undefined) return character;
  const definition = NAMED.get(name.toLowerCase().replace(/(?<=.)[_-](?=.)/g, ''));
  return definition === undefined ? undefined : { definition, shift: false };
}

/** Parses a combination such as `Ctrl+Shift+Tab`; `unknown` is the first part that is not a key. */
export function parseCombination(text: string): { keys: TypedCharacter[] } | { unknown: string } {
  // A plus sign can be a key: alone, or as the last part (`Ctrl++`).
  const parts = text === '+' ? ['+'] : text.endsWith('++') ? [...text.slice(0, -2).split('+'), '+'] : text.split('+');
  const keys: TypedCharacter[] = [];
  for (const part of parts) {
    const key = keyOfName(part);
    if (key === undefined) return { unknown: part };
    keys.push(key);
  }
  return { keys };
}
