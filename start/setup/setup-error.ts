/**
 * Something required for setup or start is missing or invalid. The message is one line for the terminal, shown without a stack
 * trace: what is missing, and how to get it.
 */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}
