/** Where the service says what it does: fields are ids, codes and counts, never a URL, a title or a typed text. */
export interface Logger {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}
