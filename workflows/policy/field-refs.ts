import type { CredentialFacts } from '../../contract/activities.ts';
import { isOneTime } from '../../contract/code-fields.ts';
import type { RequiredField } from '../../contract/login-plan.ts';
import type { ReadField } from '../../contract/reading.ts';

/** What identifies a field. */
type KnownField = Pick<ReadField, 'type' | 'discovered_type' | 'name' | 'label' | 'captcha'>;

/** A field with its `ref`: the name of its value in a credential. */
export interface NamedField<Field extends KnownField = ReadField> {
  field: Field;
  ref: string;
}

/** Fields that already have a `ref`. */
export interface FieldMemory {
  /** Answered in this flow: no other field gets one of their refs. */
  now: readonly RequiredField[];
  /** From earlier logins: a recognized field keeps its `ref`. */
  earlier: readonly RequiredField[];
}

export const NOTHING_KNOWN: FieldMemory = { now: [], earlier: [] };

/** Names under which callers store an identifier, best first. */
const IDENTIFIER_KEYS = ['username', 'email', 'identifier', 'login', 'user', 'user_name', 'phone', 'tel', 'account'];
const EMAIL_FIRST = ['email', ...IDENTIFIER_KEYS.filter((key) => key !== 'email')];

/** The default `ref` of a field, if no other field has the same one. */
export function commonRef(field: KnownField): string {
  switch (field.type) {
    case 'identifier':
      return field.discovered_type === 'email' ? 'email' : 'username';
    case 'password':
      return 'password';
    case 'totp_secret':
      return 'totp_secret';
    case 'code':
    case 'totp_code':
      return 'code';
    case 'text':
      return field.name;
  }
}

/**
 * Gives every field of a page its `ref`, unique in the connection. A field that was answered before keeps its own; fields
 * that would share one are named after their label or name, so that none depends on their order. Pure.
 */
export function nameFields<Field extends KnownField>(
  fields: readonly Field[],
  { now, earlier }: FieldMemory = NOTHING_KNOWN,
): NamedField<Field>[] {
  const refs = new Map<Field, string>();
  for (const known of [now, earlier]) {
    const left = new Map(known.map((each) => [each.ref ?? commonRef(each), each]));
    for (const isSame of [hasSameWords, hasSameLabel, hasSameName]) {
      for (const field of fields) {
        if (refs.has(field)) continue;
        const ref = [...left.keys()].find((each) => isSame(left.get(each) ?? field, field) && !isGiven(refs, each));
        if (ref === undefined) continue;
        refs.set(field, ref);
        left.delete(ref);
      }
    }
  }
  const unnamed = fields.filter((field) => !refs.has(field));
  const used = new Set([...refs.values(), ...now.map((each) => each.ref ?? commonRef(each))]);
  const shared = unnamed.filter(
    (field) =>
      used.has(commonRef(field)) ||
      unnamed.some((each) => each !== field && commonRef(each) === commonRef(field)) ||
      fields.some((each) => differsByNumber(each, field)),
  );
  for (const field of unnamed) if (!shared.includes(field)) refs.set(field, commonRef(field));
  const taken = new Set([...used, ...refs.values(), ...earlier.map((each) => each.ref ?? commonRef(each))]);
  for (const field of shared) {
    const ref = uniqueRef(field, shared, taken);
    refs.set(field, ref);
    taken.add(ref);
  }
  return fields.map((field) => ({ field, ref: refs.get(field) ?? commonRef(field) }));
}

/** The keys that answer the fields of one page, in order; null for none. An ambiguous key answers no field. Pure. */
export function matchKeys(named: readonly NamedField<KnownField>[], credential: CredentialFacts): (string | null)[] {
  const left = new Set(credential.valueKeys);
  const keys = named.map((): string | null => null);
  const take = (index: number, key: string | undefined): void => {
    const field = named[index]?.field;
    const isStored = field !== undefined && field.type !== 'totp_secret' && !isOneTime(field);
    if (isStored && keys[index] === null && key !== undefined && left.delete(key)) keys[index] = key;
  };
  named.forEach(({ ref }, index) => take(index, ref));
  named.forEach(({ field }, index) => take(index, field.name));
  const unmatched = (type: KnownField['type']): number[] =>
    named.flatMap(({ field }, index) => (field.type === type && keys[index] === null ? [index] : []));
  const [identifier, another] = unmatched('identifier');
  if (identifier !== undefined && another === undefined) {
    const order = named[identifier]?.field.discovered_type === 'email' ? EMAIL_FIRST : IDENTIFIER_KEYS;
    take(
      identifier,
      order.find((key) => left.has(key)),
    );
  }
  const [password, second] = unmatched('password');
  const lone = second === undefined ? named[password ?? -1] : undefined;
  if (lone !== undefined && !named.some(({ field }) => differsByNumber(field, lone.field)))
    take(named.indexOf(lone), 'password');
  return keys;
}

/** Most fields that a connection remembers; the least recently used are forgotten first. */
const MAX_REMEMBERED = 40;

/** The remembered fields after a login that answered `answered`. Pure. */
export function rememberFields(before: readonly RequiredField[], answered: readonly RequiredField[]): RequiredField[] {
  const refs = new Set(answered.map(({ ref }) => ref));
  return [...before.filter(({ ref }) => !refs.has(ref)), ...answered].slice(-MAX_REMEMBERED);
}

/** A ref made of the field's label or name, if it is unique among the fields that share a default; else a numbered default. */
function uniqueRef(field: KnownField, shared: readonly KnownField[], taken: ReadonlySet<string>): string {
  const isUnique = (words: string, of: (each: KnownField) => string): boolean =>
    /\p{L}{2}/u.test(words) && !taken.has(words) && shared.every((each) => each === field || slug(of(each)) !== words);
  const label = slug(field.label);
  if (isUnique(label, (each) => each.label)) return label;
  const name = slug(field.name);
  if (isUnique(name, (each) => each.name)) return name;
  const common = commonRef(field);
  for (let number = 1; ; number += 1) {
    const numbered = number === 1 ? common : `${common}_${String(number)}`;
    if (!taken.has(numbered)) return numbered;
  }
}

function isGiven(refs: ReadonlyMap<KnownField, string>, ref: string): boolean {
  return [...refs.values()].includes(ref);
}

function hasSameWords(a: KnownField, b: KnownField): boolean {
  return hasSameLabel(a, b) && hasSameName(a, b);
}

function hasSameLabel(a: KnownField, b: KnownField): boolean {
  return isSameType(a, b) && slug(a.label) !== '' && slug(a.label) === slug(b.label);
}

/** Names that frameworks number say nothing about the field. */
const MEANINGLESS = /^(input|field|value|text|textbox|answer|control)?[\d_]*$/;

function hasSameName(a: KnownField, b: KnownField): boolean {
  return isSameType(a, b) && a.name === b.name && !MEANINGLESS.test(slug(a.name)) && !differsByNumber(a, b);
}

/** True for labels that differ only in a number, as those of the characters of one secret do (`Character 2`): each has its own value. */
function differsByNumber(a: KnownField, b: KnownField): boolean {
  const words = ({ label }: KnownField): string => slug(label).replaceAll(/\d+(st|nd|rd|th)?/g, '#');
  return slug(a.label) !== slug(b.label) && words(a) === words(b);
}

/** A code that a saved secret answered is remembered as an authenticator code, whatever its page calls it. */
function isSameType(a: KnownField, b: KnownField): boolean {
  const kindOf = ({ type }: KnownField): string => (type === 'totp_code' ? 'code' : type);
  return kindOf(a) === kindOf(b);
}

function slug(text: string): string {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_');
  return words.replace(/^_+|_+$/g, '').slice(0, 60);
}
