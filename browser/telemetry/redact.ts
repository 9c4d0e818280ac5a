/** Properties of events that may contain what a person typed. */
const REDACTED: ReadonlySet<string> = new Set([
  'key',
  'text',
  'args',
  'title',
  'post_data',
  'body',
  'description',
  'code',
]);
const URLS: ReadonlySet<string> = new Set(['url', 'document_url', 'redirect_url', 'source_url']);
const SAFE_HEADERS: ReadonlySet<string> = new Set([
  ...'accept accept-encoding accept-language age cache-control connection content-encoding'.split(' '),
  ...'content-length content-type date expires host last-modified origin pragma retry-after server'.split(' '),
  ...'strict-transport-security transfer-encoding user-agent vary'.split(' '),
]);
const PLACEHOLDER = '[left out]';

/**
 * Returns a copy of an event's data without what may have been typed: keys, texts of fields and the console, post data, bodies,
 * and every header that is not known to be safe. URLs lose their query and fragment, which forms submit to as well.
 */
export function redactTyped(type: string, data: unknown): unknown {
  const redacted = redact(data);
  // This event requires a text.
  return type === 'console_error' && isRecord(redacted) ? { ...redacted, text: PLACEHOLDER } : redacted;
}

function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact);
  if (!isRecord(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(value)) {
    if (REDACTED.has(name)) continue;
    if (name === 'headers') result[name] = safeHeaders(part);
    else if (URLS.has(name) && typeof part === 'string') result[name] = withoutQuery(part);
    else result[name] = redact(part);
  }
  return result;
}

function safeHeaders(headers: unknown): Record<string, unknown> {
  if (!isRecord(headers)) return {};
  return Object.fromEntries(Object.entries(headers).filter(([name]) => SAFE_HEADERS.has(name.toLowerCase())));
}

/** Origin and path of a web URL; of any other, only the scheme. */
function withoutQuery(text: string): string {
  if (!URL.canParse(text)) return '';
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) ? `${url.origin}${url.pathname}` : url.protocol;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
