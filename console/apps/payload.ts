import type { FormValues } from '../parts/form.tsx';

/** A property of an action's input as a form field. */
export interface PayloadField {
  /** The property's name; its form field is named `payload.<property>`. */
  property: string;
  kind: 'text' | 'number' | 'switch' | 'choice';
  required: boolean;
  hint: string | undefined;
  /** The schema's default, as a field value. */
  initial: string;
  options: readonly string[];
}

/** The JSON Schema of an action. */
export type JsonSchema = Readonly<Record<string, unknown>> | null | undefined;

/** Form fields for a schema of flat properties; null if it can only be entered as JSON. */
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

/** The entered values as an object, without empty optional fields. An invalid number becomes NaN. */
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
