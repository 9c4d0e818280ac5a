/** On a Mac the command key does what Ctrl does in the browser that is shown. */
const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** The modifier keys of an event as the protocol counts them: 1 Alt, 2 Ctrl, 4 Meta, 8 Shift. */
export function modifiersOf(event: MouseEvent | KeyboardEvent | TouchEvent): number {
  const ctrl = event.ctrlKey || (IS_MAC && event.metaKey);
  const meta = event.metaKey && !IS_MAC;
  return (event.altKey ? 1 : 0) | (ctrl ? 2 : 0) | (meta ? 4 : 0) | (event.shiftKey ? 8 : 0);
}

/** The name of an event's key, as the shown browser is to see it. */
export function keyNameOf(event: KeyboardEvent): string {
  return event.key === 'Meta' && IS_MAC ? 'Control' : event.key;
}
