import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { z } from 'zod';
import { ERROR_CODES } from '../../contract/errors.ts';
import { CodeSourceCreate } from '../../contract/code-sources.ts';
import { ConnectionCreate } from '../../contract/connections.ts';
import { PasswordSet } from '../../contract/people.ts';
import { ProjectLimitsUpdate } from '../../contract/organization-limits.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Rules of fields that forms of the console have, as contract and API write them. */
const RULES = [
  'must be a hostname, with a port where needed (example.com, host:8443)',
  'must be a hostname such as example.com',
  'must be a host name or an address, without a scheme or a port',
  'must be an absolute http(s) URL without user or password',
  'must be https; http is for hosts that the operator listed',
  'is a private address; the operator can list it as an allowed host',
  'must be a number with its country, such as +15550109999',
  'must be an e-mail address',
  'must be a base32 secret of 16 characters or more (A-Z, 2-7), or an otpauth://totp/ address that holds one',
  'must not be the email address',
  'must be the six digits that the authenticator shows',
  'is not the current code of the authenticator; enter the next one',
  'cannot be changed; have the new address invited',
  'no credential of that name in this project',
  'no such proxy in this project',
  'must not hold a slash, nor be `.` or `..`',
  'must be the name of an AWS region',
  'is not a valid ZIP archive',
  'is not a known property',
];

let fieldErrorText: (rule: string) => string;
let errorText: (code: string, message: string) => string;
beforeAll(async () => {
  vi.stubGlobal('document', { documentElement: { lang: 'de' } });
  vi.stubGlobal('localStorage', { getItem: () => null });
  ({ fieldErrorText } = await import('../../console/words/field-errors.ts'));
  ({ errorText } = await import('../../console/words/error-messages.ts'));
});
afterAll(() => vi.unstubAllGlobals());

/** What is said of the fields of a body that a schema refuses. */
function saidOf(schema: z.ZodType, body: unknown): string[] {
  return (schema.safeParse(body).error?.issues ?? []).map(({ message }) => fieldErrorText(message));
}

test('every error code has a German text', () => {
  const said = Object.keys(ERROR_CODES).map((code) => errorText(code, 'Something went wrong'));
  expect(said.filter((text) => text.startsWith('Something'))).toEqual([]);
  expect(errorText('operation_failed', 'An organization keeps an owner; make somebody else one first')).toBe(
    'Eine Organisation braucht jemanden mit der Rolle „verwaltet“. Gib diese Rolle zuerst jemand anderem',
  );
  expect(errorText('invalid_input', 'expires_at: must be a whole number')).toBe(
    'expires_at: muss eine ganze Zahl sein',
  );
});

test('schema errors of fields are translated to German', () => {
  expect(saidOf(CodeSourceCreate, { type: 'pigeon', secret: 'short' })).toEqual([
    'ist keiner der Werte, die hier möglich sind',
    'muss 8 Zeichen oder mehr haben',
  ]);
  expect(saidOf(PasswordSet, { password: 'x'.repeat(300) })).toEqual(['darf höchstens 256 Zeichen haben']);
  expect(saidOf(ProjectLimitsUpdate, { max_concurrent_sessions: -1, max_concurrent_invocations: Number.NaN })).toEqual([
    'muss 0 oder mehr sein',
    'muss eine Zahl sein',
  ]);
  expect(saidOf(ConnectionCreate, { domain: 'no host!', profile_name: '', login_url: 'nowhere' })).toEqual([
    'muss der Name einer Website sein, etwa example.com',
    'darf nicht leer sein',
    'muss eine vollständige Adresse sein, etwa https://example.com/login, ohne Benutzer und Passwort',
  ]);
  expect(saidOf(ConnectionCreate, { domain: 'shop.example' })).toEqual(['fehlt']);
  expect(fieldErrorText('10.0.0.1 is a private address; the operator can list it as an allowed host')).toMatch(
    /^10\.0\.0\.1 ist/,
  );
  expect(fieldErrorText('a rule that nobody has put into words')).toBe('a rule that nobody has put into words');
});

test("rules of form fields have German texts and still match the API's messages", async () => {
  const sources = (await Promise.all(['contract', 'api', 'http', 'store'].map(sourcesIn))).join('\n');
  for (const rule of RULES) {
    expect(sources).toContain(rule);
    expect(fieldErrorText(rule), rule).not.toBe(rule);
  }
});

async function sourcesIn(folder: string): Promise<string> {
  const files = await readdir(join(ROOT, folder), { recursive: true });
  const texts = files.filter((name) => name.endsWith('.ts')).map((name) => readFile(join(ROOT, folder, name), 'utf8'));
  return (await Promise.all(texts)).join('\n');
}
