/**
 * Keys of a US keyboard by `KeyboardEvent.code`, as the X server names what they type without Shift (keysyms). Letters,
 * digits and function keys follow a rule.
 */
const KEYSYMS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Backquote: 'grave',
    Minus: 'minus',
    Equal: 'equal',
    BracketLeft: 'bracketleft',
    BracketRight: 'bracketright',
    Backslash: 'backslash',
    Semicolon: 'semicolon',
    Quote: 'apostrophe',
    Comma: 'comma',
    Period: 'period',
    Slash: 'slash',
    Space: 'space',
    Enter: 'Return',
    NumpadEnter: 'KP_Enter',
    Tab: 'Tab',
    Backspace: 'BackSpace',
    Escape: 'Escape',
    Delete: 'Delete',
    Insert: 'Insert',
    Home: 'Home',
    End: 'End',
    PageUp: 'Prior',
    PageDown: 'Next',
    ArrowLeft: 'Left',
    ArrowUp: 'Up',
    ArrowRight: 'Right',
    ArrowDown: 'Down',
    ShiftLeft: 'Shift_L',
    ShiftRight: 'Shift_R',
    ControlLeft: 'Control_L',
    ControlRight: 'Control_R',
    AltLeft: 'Alt_L',
    AltRight: 'Alt_R',
    MetaLeft: 'Super_L',
    MetaRight: 'Super_R',
    CapsLock: 'Caps_Lock',
    ContextMenu: 'Menu',
    Pause: 'Pause',
    PrintScreen: 'Print',
  }),
);

/** The X server's name of a key; undefined for one that its keyboard does not have. */
export function keysymOf(code: string): string | undefined {
  const simple = /^(?:Key([A-Z])|Digit(\d)|(F\d{1,2}))$/.exec(code);
  return simple === null ? KEYSYMS.get(code) : (simple[1]?.toLowerCase() ?? simple[2] ?? simple[3]);
}
