/**
 * `input` without its undefined entries. zod's optional properties may hold `undefined`, the types of our other rooms say
 * that an optional property is there or is not; this is the one place where the two meet.
 */
export function defined<Shape extends object>(input: Shape): { [K in keyof Shape]: Exclude<Shape[K], undefined> } {
  const entries = Object.entries(input).filter(([, value]) => value !== undefined);
  // The mapped type keeps the optional marks of `Shape`, so a dropped entry is one that may be absent.
  return Object.fromEntries(entries) as { [K in keyof Shape]: Exclude<Shape[K], undefined> };
}
