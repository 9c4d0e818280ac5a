import type { FormValues } from '../parts/form.tsx';

/** A property of an action's input, as a field of a form. */
export interface PayloadField {
  /** The property; the form's field is named `payload.<property>`. */
  property: string;
  kind: 'text' | 'number' | 'switch' | 'choice';
  required: boolean;
  hint: string | undefined;
  /** Its default, as a field holds it. */
  initial: string;
  options: readonly string[];
}

/** A JSON Schema as an action carries it. */
export type JsonSchema = Readonly<Record<string, unknown>> | null | undefined;

/** The fields of a schema of plain properties; null where only JSON can hold what it takes. */
export function fieldsOf(schema: JsonSchema): readonly PayloadField[] | null {
  const properties = schema?.['properties'];
  if (schema?.['type'] !== 'object' || !isRecord(properties)) return null;
  const needed = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = Object.entries(properties).map(([property, rule]) =>
    isRecord(rule) ? fieldOf(property, rule, needed.includes(property)) : null,
  );
  const plain = fields.filter((field) => field !== null);
  return plain.length === fields.length && plain.length > 0 ? plain : null;
}

function fieldOf(property: string, rule: Record<string, unknown>, required: boolean): PayloadField | null {
  const kind = kindOf(rule);
  if (kind === null) return null;
  const { description, default: preset } = rule;
  return {
    property,
    kind,
    required,
    hint: typeof description === 'string' ? description : undefined,
    initial: ['string', 'number', 'boolean'].includes(typeof preset) ? String(preset) : '',
    options: kind === 'choice' && Array.isArray(rule['enum']) ? rule['enum'].map(String) : [],
  };
}

function kindOf({ type, enum: choices }: Record<string, unknown>): PayloadField['kind'] | null {
  if (Array.isArray(choices)) return choices.every((choice) => typeof choice === 'string') ? 'choice' : null;
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  return type === 'boolean' ? 'switch' : null;
}

/** What was entered into the fields, as an object; empty fields that are not required are left out. A number that is none is NaN. */
export function payloadOf(fields: readonly PayloadField[], values: FormValues): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap(({ property, kind, required }): [string, unknown][] => {
      const entered = values[`payload.${property}`] ?? '';
      if (kind === 'switch') return [[property, entered === 'on']];
      if (entered === '' && !(required && kind === 'text')) return [];
      return [[property, kind === 'number' ? Number(entered) : entered]];
    }),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
