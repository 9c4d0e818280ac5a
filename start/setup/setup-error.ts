/**
 * Something the set-up or the start needs is missing or wrong. The message is one line for the person at the terminal:
 * what is missing and how to get it. Shown without a stack trace.
 */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
