import fc, { type Arbitrary } from 'fast-check';
import { z } from 'zod';

/** The subset of JSON Schema that the document uses. */
const Schema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  pattern: z.string().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  allOf: z.array(z.unknown()).optional(),
});
type Schema = z.infer<typeof Schema>;

/** Values outside any schema, including some that databases, parsers or clocks may fail on. */
const STRAY: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, '', ' ', 'a\0b', '\ud800', '%', '../..', -1, 2 ** 53, 1e308, 0.5, true, [], {}),
  fc.string({ unit: 'binary', maxLength: 50 }),
  fc.jsonValue({ maxDepth: 2 }),
);
const FORMATS: Record<string, Arbitrary<string>> = {
  uri: fc.webUrl(),
  email: fc.emailAddress(),
  'date-time': fc
    .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
    .map((date) => date.toISOString()),
};
/** Maximum depth; deeper values are cut off. */
const MOST_DEPTH = 6;
const MOST_ITEMS = 4;

/** Values each of whose parts follows the schema nine times in ten, and deviates otherwise. */
export function arbitraryOf(described: unknown, depth = 0): Arbitrary<unknown> {
  // `true` takes anything, and so does `{}`.
  if (depth > MOST_DEPTH || typeof described === 'boolean') return STRAY;
  return fc.oneof(
    { weight: 9, arbitrary: following(Schema.parse(described ?? {}), depth) },
    { weight: 1, arbitrary: STRAY },
  );
}

function following(schema: Schema, depth: number): Arbitrary<unknown> {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map((choice) => arbitraryOf(choice, depth)));
  if (schema.allOf !== undefined)
    return fc
      .tuple(...schema.allOf.map((part) => arbitraryOf(part, depth)))
      .map((parts) => Object.assign({}, ...parts.filter((part) => typeof part === 'object')) as unknown);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const types = schema.type === undefined ? [] : [schema.type].flat();
  return types.length === 0 ? STRAY : fc.oneof(...types.map((type) => ofType(type, schema, depth)));
}

function ofType(type: string, schema: Schema, depth: number): Arbitrary<unknown> {
  switch (type) {
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(arbitraryOf(schema.items, depth + 1), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.max(schema.minItems ?? 0, Math.min(schema.maxItems ?? MOST_ITEMS, MOST_ITEMS)),
      });
    case 'object':
      return objectOf(schema, depth);
    default:
      return fc.constant(null);
  }
}

function textOf({ format = '', pattern, minLength = 0, maxLength = 300 }: Schema): Arbitrary<unknown> {
  const ofFormat = FORMATS[format];
  if (ofFormat !== undefined) return ofFormat;
  const free = fc.oneof(
    fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, minLength + 30) }),
    // Words that have a meaning in some operation.
    fc.constantFrom(
      'example.com',
      'https://example.com/',
      'JBSWY3DPEHPK3PXP',
      'fuzz',
      'a'.repeat(Math.min(maxLength, 255)),
    ),
  );
  if (pattern === undefined) return free;
  try {
    return fc.oneof(fc.stringMatching(new RegExp(pattern)), free);
  } catch {
    // Patterns with lookahead cannot be generated from.
    return free;
  }
}

function numberOf({ type, minimum = -1000, maximum = 1_000_000 }: Schema): Arbitrary<unknown> {
  const [min, max] = [Math.max(minimum, -(2 ** 31)), Math.min(Math.max(maximum, minimum), 2 ** 31)];
  const edges = fc.constantFrom(min, max);
  return [type].flat().includes('integer')
    ? fc.oneof(fc.integer({ min: Math.ceil(min), max: Math.floor(max) }), edges)
    : fc.oneof(fc.double({ min, max, noNaN: true }), edges);
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema, depth: number): Arbitrary<unknown> {
  const own = Object.fromEntries(
    Object.entries(properties).map(([name, inner]) => [name, arbitraryOf(inner, depth + 1)] as const),
  );
  const known = fc.record(own, { requiredKeys: required.filter((name) => name in own) });
  const isOpen = typeof additionalProperties === 'object' && additionalProperties !== null;
  if (!isOpen) return known;
  const more = fc.dictionary(fc.string({ minLength: 1, maxLength: 10 }), arbitraryOf(additionalProperties, depth + 1), {
    maxKeys: 3,
  });
  return fc.tuple(known, more).map(([first, rest]) => ({ ...rest, ...first }));
}
