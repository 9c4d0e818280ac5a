import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startApi, type RunningApi } from '../../api/service.ts';
import { arbitraryOf } from './schema-arbitrary.ts';
import { API_KEY, useService } from './service-fixture.ts';

/** Requests to each operation; the seed of a run that failed stands in its message, and is given by FUZZ_SEED. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 60);
const SEED = process.env['FUZZ_SEED'] === undefined ? {} : { seed: Number(process.env['FUZZ_SEED']) };
/** Ids that were answered, and are asked for again: the latest of each operation's group. */
const KEPT_IDS = 20;

const Operation = z.looseObject({
  security: z.array(z.unknown()).optional(),
  parameters: z
    .array(z.looseObject({ name: z.string(), in: z.string(), required: z.boolean().optional(), schema: z.unknown() }))
    .default([]),
  requestBody: z.looseObject({ content: z.record(z.string(), z.looseObject({ schema: z.unknown() })) }).optional(),
  responses: z.record(z.string(), z.unknown()),
});
type Operation = z.infer<typeof Operation>;
const Document = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), Operation)) });
const Method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const Context = z.looseObject({ authentication: z.looseObject({ credential_id: z.string() }) });
const Identified = z.looseObject({ id: z.string() });
const Listed = z.union([Identified.transform((one) => [one]), z.array(Identified)]);

/** One request: `url` is its path and query. */
interface Sent {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
}

const fixture = useService();
let api: RunningApi;
let operations: { route: string; method: z.infer<typeof Method>; path: string; described: Operation }[] = [];
/** Of the key that asks: without it nothing more could be asked. */
let ownKeyId = '';
const seen = new Map<string, string[]>();

beforeAll(async () => {
  const { deps } = fixture();
  const unlimited = { burst: 1_000_000, perSecond: 1_000_000 };
  const settings = { ...deps.settings, addressRateLimit: unlimited, credentialRateLimit: unlimited };
  api = await startApi({ ...deps, settings, port: 0 });
  const { paths } = Document.parse(await (await fetch(`${api.url}/openapi.json`)).json());
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const upper = Method.parse(method.toUpperCase());
      return { route: `${upper} ${path}`, method: upper, path, described };
    }),
  );
  const context = await fetch(`${api.url}/auth/context`, { headers: { authorization: `Bearer ${API_KEY}` } });
  ownKeyId = Context.parse(await context.json()).authentication.credential_id;
});
afterAll(() => api.close());

const groupOf = (path: string): string => path.split('/{', 1)[0] ?? path;

function remember(path: string, body: string): void {
  const listed = Listed.safeParse(parsed(body));
  if (!listed.success) return;
  const ids = listed.data.map(({ id }) => id).filter((id) => id !== ownKeyId);
  seen.set(groupOf(path), [...(seen.get(groupOf(path)) ?? []), ...ids].slice(-KEPT_IDS));
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

/** What is sent to an operation: its path, with names that are there more often than not, its query and its body. */
function requestsTo({ method, path, described: { parameters, requestBody, security } }: (typeof operations)[number]) {
  const schema = requestBody?.content['application/json']?.schema;
  const query = parameters.filter((one) => one.in === 'query');
  return fc
    .record({
      pick: fc.nat(),
      name: fc.constantFrom('known', 'known', 'known', 'fuzz', 'x', '%00', '%ED%A0%80', '%2F', 'a'.repeat(300)),
      values: fc.record(Object.fromEntries(query.map((one) => [one.name, arbitraryOf(one.schema)] as const)), {
        requiredKeys: query.filter(({ required }) => required === true).map((one) => one.name),
      }),
      body: schema === undefined ? fc.constant(undefined) : arbitraryOf(schema),
    })
    .map(({ pick, name, values, body }) => (): Sent => {
      const known = seen.get(groupOf(path)) ?? [];
      const id = name === 'known' ? (known[pick % Math.max(known.length, 1)] ?? 'x') : name;
      const search = Object.entries(values).map(([key, value]) => `${key}=${encodeURIComponent(wellFormed(value))}`);
      return {
        method,
        url: `${path.replaceAll(/\{\w+\}/g, id)}?${search.join('&')}`,
        headers: {
          ...(security?.length === 0 ? {} : { authorization: `Bearer ${API_KEY}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      };
    });
}

/** encodeURIComponent throws for lone surrogates; bodies carry those. */
function wellFormed(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd');
}

/** What no caller should ever see. Nothing stands behind `/browsers` here: the document says 502 for that. */
function isFault(path: string, status: number): boolean {
  return status >= 500 && !(path.startsWith('/browser') && status === 502);
}

describe('every operation of the document, fuzzed', () => {
  it('responds with a documented status, and never with an internal error', async () => {
    const wrong: string[] = [];
    const answered = new Map<number, number>();
    // What removes things comes after what needs them.
    const ordered = operations.toSorted((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'));
    for (const operation of ordered) {
      const { route, path, described } = operation;
      // What never ends by itself has tests of its own.
      if (path.endsWith('/events') || path.endsWith('/stream')) continue;
      const declared = Object.keys(described.responses);
      const check = async (request: () => Sent): Promise<boolean> => {
        const { url, ...sent } = request();
        const answer = await fetch(`${api.url}${url}`, { ...sent, redirect: 'manual' });
        const { status } = answer;
        const text = await answer.text();
        answered.set(status, (answered.get(status) ?? 0) + 1);
        if (status < 300) remember(path, text);
        if (!isFault(path, status) && declared.includes(String(status))) return true;
        wrong.push(`${route}: ${status} ${text.slice(0, 200)} for ${url} ${sent.body ?? ''}`);
        return false;
      };
      const outcome = await fc.check(fc.asyncProperty(requestsTo(operation), check), { numRuns: RUNS, ...SEED });
      if (outcome.failed) wrong.push(`${route}: FUZZ_SEED=${outcome.seed}`);
    }
    process.stdout.write(`answers by status: ${JSON.stringify(Object.fromEntries(answered))}\n`);
    expect(wrong).toEqual([]);
    // Else nothing of this was reached: the generator makes requests that are taken, too.
    expect([...answered.keys()]).toEqual(expect.arrayContaining([200, 201, 204, 400, 404]));
  }, 3_600_000);
});
