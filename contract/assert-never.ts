/** Ends a switch over a union: a member that is not handled becomes a compile error here. */
export function assertNever(value: never): never {
  throw new TypeError(`Unhandled member of a union: ${String(value)}`);
}
