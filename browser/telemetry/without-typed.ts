/**
 * Events of a session that secrets are typed into, without what is typed: keys, texts of fields and of the console, post
 * data, bodies, and every header that is not known to be harmless. Addresses lose their query and fragment, because forms
 * send by them too.
 */

/** Properties that may hold what a person typed, whichever event they are in. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'key',
  'text',
  'args',
  'title',
  'post_data',
  'body',
  'description',
  'code',
]);
const ADDRESSES: ReadonlySet<string> = new Set(['url', 'document_url', 'redirect_url', 'source_url']);
const HARMLESS_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'age',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'expires',
  'host',
  'last-modified',
  'origin',
  'pragma',
  'retry-after',
  'server',
  'strict-transport-security',
  'transfer-encoding',
  'user-agent',
  'vary',
]);
/** What stands where a text must be. */
const PLACEHOLDER = '[left out]';

/** Pure; the data is not changed, but built anew. */
export function withoutTyped(type: string, data: unknown): unknown {
  const clean = strip(data);
  // This event cannot do without its text.
  return type === 'console_error' && isRecord(clean) ? { ...clean, text: PLACEHOLDER } : clean;
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (!isRecord(value)) return value;
  const kept: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(value)) {
    if (LEFT_OUT.has(name)) continue;
    if (name === 'headers') kept[name] = harmless(part);
    else if (ADDRESSES.has(name) && typeof part === 'string') kept[name] = bareAddress(part);
    else kept[name] = strip(part);
  }
  return kept;
}

function harmless(headers: unknown): Record<string, unknown> {
  if (!isRecord(headers)) return {};
  return Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS_HEADERS.has(name.toLowerCase())));
}

/** Origin and path of a web address; of any other, its scheme. */
function bareAddress(address: string): string {
  if (!URL.canParse(address)) return '';
  const url = new URL(address);
  return /^https?:$/.test(url.protocol) ? `${url.origin}${url.pathname}` : url.protocol;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
