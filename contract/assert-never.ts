/** Ends a switch over a union: an unhandled member becomes a compile error here. */
export function assertNever(value: never): never {
  throw new TypeError(`Unhandled member of a union: ${String(value)}`);
}
