import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { BROWSER_POOL_ROUTES } from '../../contract/browser-pool-routes.ts';
import { BROWSER_ROUTES } from '../../contract/browser-routes.ts';
import { useService } from './service-fixture.ts';

const fixture = useService();

interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  isPublic: boolean;
  body: unknown;
  isBodyRequired: boolean;
  query: string[];
}
interface Described {
  security?: unknown[];
  parameters?: { name: string; in: string }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: unknown }> };
}

let operations: Operation[] = [];

beforeAll(async () => {
  const document = (await fixture().app.inject('/openapi.json')).json<{
    paths: Record<string, Record<string, Described>>;
  }>();
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      method: method.toUpperCase() as Operation['method'],
      path,
      isPublic: described.security?.length === 0,
      body: described.requestBody?.content['application/json']?.schema ?? null,
      isBodyRequired: described.requestBody?.required ?? false,
      query: (described.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name),
    })),
  );
});

describe('the OpenAPI document', () => {
  it('lists every operation, without a key', () => {
    const listed = operations.map(({ method, path }) => `${method} ${path}`);
    expect(listed.filter((one) => one.includes(' /login'))).toEqual([]);
    expect(listed).toEqual(
      expect.arrayContaining([
        'POST /auth/connections',
        'GET /auth/connections',
        'GET /auth/connections/{id}',
        'PATCH /auth/connections/{id}',
        'DELETE /auth/connections/{id}',
        'POST /auth/connections/{id}/login',
        'POST /auth/connections/{id}/submit',
        'GET /auth/connections/{id}/events',
        'GET /auth/connections/{id}/timeline',
        'POST /auth/connections/{id}/exchange',
        'POST /auth/connections/{id}/check',
        'POST /credentials',
        'GET /credentials/{id_or_name}/totp-code',
        'POST /profiles',
        'POST /proxies',
        'GET /proxies',
        'GET /proxies/{id_or_name}',
        'PATCH /proxies/{id_or_name}',
        'DELETE /proxies/{id_or_name}',
        'POST /proxies/{id_or_name}/check',
        'POST /org/api_keys/{id}/rotate',
        'GET /org/projects',
        'GET /org/projects/{id_or_name}',
        'POST /browsers',
        'GET /browsers/{id}/telemetry/stream',
        'PUT /browsers/{id}/fs/write_file',
        'GET /auth/context',
        'GET /health',
      ]),
    );
    expect(
      operations
        .filter(({ isPublic }) => isPublic)
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual([
      '/auth/connections/{id}/exchange',
      '/code_sources/{id}/messages',
      '/health',
      '/session/invitation',
      '/session/link',
      '/session/methods',
      '/session/oidc',
      '/session/oidc/callback',
      '/session/passkey',
      '/session/passkey/options',
      '/session/password',
    ]);
  });

  it('describes exactly the operations that the browser service serves', () => {
    const listed = operations
      .map(({ method, path }) => `${method} ${path}`)
      .filter((one) => /^\w+ \/(browsers|browser_pools)/.test(one));
    const served = [...Object.values(BROWSER_ROUTES), ...Object.values(BROWSER_POOL_ROUTES)].map(
      ({ method, url }) => `${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`,
    );
    expect(listed.toSorted()).toEqual(served.toSorted());
  });

  it('is shown on a page that loads nothing from other hosts', async () => {
    const { app } = fixture();
    const page = await app.inject('/docs');
    expect([page.statusCode, page.headers['content-security-policy']]).toEqual([
      200,
      expect.stringMatching(/^default-src 'none'; script-src 'self'; style-src 'self'; /),
    ]);
    const parts = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].flatMap(([, part]) => part ?? []);
    expect(parts.length).toBeGreaterThan(4);
    for (const part of [...parts, '/docs/json'])
      expect([part, (await app.inject(part)).statusCode]).toEqual([part, 200]);
  });

  it('distinguishes an unsupported method from an unknown path', async () => {
    const { app } = fixture();
    const headers = { authorization: 'Bearer an-operator-chosen-key-of-the-tests' };
    const wrong = await app.inject({ method: 'PUT', url: '/auth/connections/x', headers });
    expect([wrong.statusCode, wrong.headers['allow']]).toEqual([405, 'DELETE, GET, HEAD, PATCH']);
    expect((await app.inject({ method: 'PUT', url: '/auth/nothing', headers })).statusCode).toBe(404);
    expect((await app.inject({ method: 'PUT', url: '/auth/connections/x' })).statusCode).toBe(401);
  });

  it('lists the methods of every path in Allow', async () => {
    const { app } = fixture();
    const headers = { authorization: 'Bearer an-operator-chosen-key-of-the-tests' };
    for (const path of new Set(operations.map((one) => one.path))) {
      // What a newer browser service knows beside is passed on.
      if (path.startsWith('/browsers')) continue;
      const url = path.replaceAll(/\{\w+\}/g, 'x');
      // A word in one path may stand for a name in another.
      const isMeant = (one: Operation) => new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(url);
      const known = operations.filter(isMeant).map(({ method }) => method);
      // HEAD is as GET, but where GET uses something up.
      const hasHead = known.includes('GET') && path !== '/session/oidc/callback';
      const allowed = [...new Set<string>(hasHead ? [...known, 'HEAD'] : known)].toSorted();
      const others = (['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).filter(
        (method) => !allowed.some((one) => one === method),
      );
      for (const method of others) {
        const answer = await app.inject({ method, url, headers });
        const { statusCode, headers: answered } = answer;
        expect([method, path, statusCode, answered['allow']]).toEqual([method, path, 405, allowed.join(', ')]);
      }
    }
  });

  it('marks optional bodies', () => {
    const optional = operations.filter(({ body, isBodyRequired }) => body !== null && !isBodyRequired);
    expect(optional.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
      'DELETE /browser_pools/{id_or_name}',
      'PATCH /browser_pools/{id_or_name}',
      'PATCH /browsers/{id}',
      'POST /auth/connections/{id}/codes/tokens',
      'POST /auth/connections/{id}/login',
      'POST /browser_pools/{id_or_name}/acquire',
      'POST /browsers',
      'POST /browsers/{id}/computer/screenshot',
      'POST /browsers/{id}/process/{processId}/kill',
      'POST /browsers/{id}/replays',
      'POST /org/api_keys/{id}/rotate',
      'POST /profiles',
      'POST /proxies/{id_or_name}/check',
    ]);
  });

  it('describes no operation that ignores authentication', async () => {
    const { app } = fixture();
    for (const { method, path, isPublic } of operations) {
      if (isPublic) continue;
      for (const headers of [{}, { authorization: 'Bearer nobody-knows-this-key-at-all' }]) {
        const response = await app.inject({ method, url: path.replaceAll(/\{\w+\}/g, 'x'), headers });
        expect([method, path, response.statusCode]).toEqual([method, path, 401]);
      }
    }
  });

  it('is honored under fuzzing: no response is a 5xx', async () => {
    const { call, app } = fixture();
    const { id } = (await call('POST', '/auth/connections', { domain: 'fuzz.example', profile_name: 'fuzz' })).json<{
      id: string;
    }>();
    await call('POST', '/credentials', { name: 'fuzz', domain: 'fuzz.example', values: { a: 'b' } });
    const ids = fc.constantFrom(id, 'fuzz', 'x', '%00', '%ED%A0%80', '..', '%2F', 'a'.repeat(300));
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        ids,
        fc.infiniteStream(fc.nat()),
        fc.string({ unit: 'binary' }),
        async (pick, name, numbers, text) => {
          const operation = operations[pick % operations.length];
          // A stream without an end has tests of its own.
          if (operation === undefined || operation.path.endsWith('/events')) return;
          const draw = () => Number(numbers.next().value);
          const query = operation.query.map(
            (key) => `${key}=${encodeURIComponent(wellFormed(draw() % 3 === 0 ? text : `${draw() % 200}`))}`,
          );
          const path = operation.path.replaceAll(/\{\w+\}/g, name);
          // No browser service stands behind this one, and `..` may lead to it.
          if (new URL(path, 'http://holdfast.test').pathname.startsWith('/browser')) return;
          const payload = operation.body === null ? undefined : JSON.stringify(valueFor(operation.body, draw, text, 0));
          const response = await app.inject({
            method: operation.method,
            url: `${path}${draw() % 2 === 0 ? `?${query.join('&')}` : ''}`,
            headers: {
              authorization: 'Bearer an-operator-chosen-key-of-the-tests',
              ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
            },
            ...(payload === undefined ? {} : { payload }),
          });
          expect([operation.method, path, payload, response.statusCode < 500 ? 'fine' : response.statusCode]).toEqual([
            operation.method,
            path,
            payload,
            'fine',
          ]);
        },
      ),
      { numRuns: 600 },
    );
  }, 120_000);
});

interface Schema {
  type?: string | string[];
  properties?: Record<string, unknown>;
  required?: string[];
  items?: unknown;
  enum?: unknown[];
  const?: unknown;
  anyOf?: unknown[];
  additionalProperties?: unknown;
}

/** A value that follows a schema most of the time, and strays from it some of the time. */
function valueFor(described: unknown, draw: () => number, text: string, depth: number): unknown {
  const schema = (described ?? {}) as Schema;
  const stray = draw() % 12;
  if (stray === 0 || depth > 6) return [null, draw(), text, [], {}, true, -1.5, { '': text }][draw() % 8];
  if (schema.anyOf !== undefined) return valueFor(schema.anyOf[draw() % schema.anyOf.length], draw, text, depth + 1);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[draw() % schema.enum.length];
  switch (Array.isArray(schema.type) ? schema.type[draw() % schema.type.length] : schema.type) {
    case 'string':
      return ['example.com', text, 'https://example.com/', 'JBSWY3DPEHPK3PXP', '', 'a'.repeat(300)][draw() % 6];
    case 'integer':
    case 'number':
      return [0, 1, 300, 3600, 86_400, 2 ** 40, -1][draw() % 7];
    case 'boolean':
      return draw() % 2 === 0;
    case 'array':
      return Array.from({ length: draw() % 4 }, () => valueFor(schema.items, draw, text, depth + 1));
    case 'object': {
      const own = Object.entries(schema.properties ?? {}).filter(
        ([name]) => schema.required?.includes(name) === true || draw() % 2 === 0,
      );
      const entries = own.map(([name, inner]) => [name, valueFor(inner, draw, text, depth + 1)] as const);
      const extra = schema.additionalProperties
        ? [[text, valueFor(schema.additionalProperties, draw, text, depth + 1)] as const]
        : [];
      return Object.fromEntries([...entries, ...extra]);
    }
    default:
      return null;
  }
}

/** encodeURIComponent throws for lone surrogates; bodies carry those. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '�');
}
