import fc from 'fast-check';

/** One request of the fuzz test; `place` is below the service's address, already encoded or deliberately not. */
export interface RandomRequest {
  method: string;
  place: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** Existing resources that a request can name. */
export interface Known {
  sessions: string[];
  processes: string[];
}

const CLICK = { x: 5, y: 5 };
const PATH = { path: '/tmp/a' };
/** Every operation with a valid body or query; below a session unless the path starts with a slash. */
const OPERATIONS: readonly (readonly [method: string, place: string, sample: object | null])[] = [
  ['GET', '/browsers', { limit: '5', offset: '0', status: 'all', query: 'n' }],
  [
    'POST',
    '/browsers',
    { timeout_seconds: 60, name: 'm', stealth: true, viewport: { width: 300, height: 200 }, tags: {} },
  ],
  ['DELETE', '/browsers/none', null],
  ['GET', '', { include_deleted: 'true' }],
  ['PATCH', '', { name: 'n', tags: { a: 'b' }, viewport: { width: 300, height: 200 }, telemetry: { enabled: true } }],
  ['POST', 'computer/click_mouse', { ...CLICK, button: 'left', num_clicks: 2, hold_keys: ['Shift'] }],
  ['POST', 'computer/move_mouse', { ...CLICK, smooth: false }],
  ['POST', 'computer/type', { text: 'ü' }],
  ['POST', 'computer/press_key', { keys: ['Ctrl+a'] }],
  ['POST', 'computer/scroll', { ...CLICK, delta_y: 1 }],
  ['POST', 'computer/drag_mouse', { path: [[1, 1], [9, 9]], smooth: false, step_delay_ms: 0, steps_per_segment: 2 }], // oxfmt-ignore
  ['POST', 'computer/batch', { actions: [{ type: 'sleep', sleep: { duration_ms: 1 } }, { type: 'click_mouse', click_mouse: CLICK }] }], // oxfmt-ignore
  ['POST', 'computer/screenshot', { region: { x: 0, y: 0, width: 10, height: 10 } }],
  ['POST', 'computer/cursor', { hidden: true }],
  ['POST', 'computer/get_mouse_position', {}],
  ['POST', 'computer/clipboard/read', {}],
  ['POST', 'computer/clipboard/write', { text: 'a' }],
  ['POST', 'process/exec', { command: 'true', args: ['a'], cwd: '/tmp', env: { A: 'b' }, timeout_sec: 5 }],
  ['POST', 'process/spawn', { command: 'cat', allocate_tty: true, cols: 80, rows: 24, timeout_sec: 1 }],
  ['GET', 'process/:process/status', null],
  ['POST', 'process/:process/kill', { signal: 'KILL' }],
  ['POST', 'process/:process/stdin', { data_b64: 'YQ==' }],
  ['POST', 'process/:process/resize', { cols: 10, rows: 10 }],
  ['GET', 'process/:process/stdout/stream', null],
  ['GET', 'fs/list_files', { path: '/tmp' }],
  ['GET', 'fs/file_info', PATH],
  ['GET', 'fs/read_file', PATH],
  ['GET', 'fs/download_dir_zip', { path: '/tmp' }],
  ['PUT', 'fs/create_directory', { path: '/tmp/d/e', mode: '755' }],
  ['PUT', 'fs/delete_directory', { path: '/tmp/d' }],
  ['PUT', 'fs/delete_file', PATH],
  ['PUT', 'fs/move', { src_path: '/tmp/a', dest_path: '/tmp/b' }],
  ['PUT', 'fs/set_file_permissions', { ...PATH, mode: '644', owner: 'user' }],
  ['PUT', 'fs/write_file?path=/tmp/a', {}],
  ['POST', 'fs/upload', {}],
  ['POST', 'fs/upload_zip', {}],
  ['POST', 'fs/watch', { path: '/tmp', recursive: true }],
  ['GET', 'fs/watch/w/events', null],
  ['DELETE', 'fs/watch/w', null],
  ['GET', 'logs/stream', { source: 'path', path: '/tmp/a', follow: 'false' }],
  ['GET', 'logs/stream', { source: 'supervisor', supervisor_process: 'chromium', follow: 'true' }],
  ['GET', 'telemetry/stream', { replay: 'all' }],
  ['GET', 'telemetry/events', { limit: '5', order: 'desc', category: 'control' }],
  ['GET', 'replays', null],
  ['GET', 'replays/r', null],
  ['POST', 'replays/r/stop', null],
  ['POST', 'playwright/execute', { code: '1' }],
  ['POST', 'curl', { url: 'http://localhost' }],
  ['POST', 'extensions', {}],
];

const UNUSUAL_VALUES = [
  null,
  '',
  0,
  -1,
  1.5,
  5,
  1e9,
  9e15,
  true,
  [],
  {},
  '/',
  '/..',
  'a\0b',
  '\ud800',
  'ü/\n',
  'x'.repeat(500),
];

/** Unlikely paths and ids; some are invalid in a URL. */
const unusualText = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('..', '%', '%00', '%zz', '%ff', 'a%2fb', 'x'.repeat(600), 'null', '__proto__', 'constructor'),
);

/** A sample, or a mutation with one value changed, removed or added. */
function mutated(sample: object): fc.Arbitrary<unknown> {
  const keys = Object.keys(sample);
  const strange = fc.oneof(fc.constantFrom(...UNUSUAL_VALUES), fc.jsonValue({ maxDepth: 2 }));
  const key = fc.oneof(fc.constantFrom(...keys, 'extra'), fc.string({ maxLength: 8 }));
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant<unknown>(sample) },
    { weight: 5, arbitrary: fc.tuple(key, strange).map(([name, value]) => ({ ...sample, [name]: value })) },
    {
      weight: 2,
      arbitrary: key.map((name) => Object.fromEntries(Object.entries(sample).filter(([other]) => other !== name))),
    },
    { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  );
}

const bodyText = (sample: object): fc.Arbitrary<string | undefined> =>
  fc.oneof(
    { weight: 8, arbitrary: mutated(sample).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.constantFrom(undefined, '', '{', '"', '{"a":1}garbage', '[[[[', '\0') },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 100 }) },
  );

const queryText = (sample: object): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: mutated(sample).map(queryOf) },
    { weight: 1, arbitrary: unusualText.map((text) => encodeURI(wellFormed(text))) },
  );

const contentType = fc.oneof(
  { weight: 8, arbitrary: fc.constant('application/json') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('text/plain', 'multipart/form-data', 'multipart/form-data; boundary=x', 'nonsense', ''),
  },
);

/** The id of a known resource, or sometimes an invalid one. */
const idOf = (known: string[]): fc.Arbitrary<(seed: number) => string> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant((seed: number) => known[seed % Math.max(1, known.length)] ?? 'none') },
    { weight: 1, arbitrary: unusualText.map((text) => () => inPath(text)) },
  );

/** Requests for every operation, from nearly valid to garbage. */
export function randomRequest(known: Known): fc.Arbitrary<() => RandomRequest> {
  const operation = fc.constantFrom(...OPERATIONS).chain(([method, place, sample]) =>
    fc.record({
      method: fc.oneof(
        { weight: 15, arbitrary: fc.constant(method) },
        { weight: 1, arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS') },
      ),
      place: fc.constant(place),
      body: method === 'GET' ? fc.constant(undefined) : bodyText(sample ?? {}),
      query: method === 'GET' && sample !== null ? queryText(sample) : fc.constant(''),
    }),
  );
  return fc
    .record({
      operation,
      session: idOf(known.sessions),
      process: idOf(known.processes),
      seed: fc.nat(1_000_000),
      type: contentType,
    })
    .map(({ operation: { method, place, body, query }, session, process, seed, type }) => () => {
      const operationPath = place.replace(':process', process(seed));
      const bodyless = method === 'GET' || method === 'HEAD';
      // Do not end the existing sessions.
      const id = method === 'DELETE' && operationPath === '' ? 'none' : session(seed);
      const below = operationPath === '' ? `/browsers/${id}` : `/browsers/${id}/${operationPath}`;
      return {
        method,
        place: `${operationPath.startsWith('/') ? operationPath : below}${query === '' ? '' : `?${query}`}`,
        headers: body === undefined || bodyless || type === '' ? {} : { 'content-type': type },
        body: bodyless ? undefined : body,
      };
    });
}

function queryOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return encodeURIComponent(wellFormed(String(value)));
  return Object.entries(value)
    .map(([name, entry]) =>
      [name, typeof entry === 'string' ? entry : JSON.stringify(entry)]
        .map((text) => encodeURIComponent(wellFormed(text)))
        .join('='),
    )
    .join('&');
}

/** Text as a careless client sends it; encodes only what would break the request line. */
function inPath(text: string): string {
  return wellFormed(text).replace(/[^\x21-\x7e]|[?#/]/gu, encodeURIComponent);
}

/** Removes lone surrogates, which URLs cannot encode. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}
