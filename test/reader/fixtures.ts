import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';

const FOLDER = join(import.meta.dirname, 'pages');

/** What a fixture expects of its reading; it stands in the comment of its first line. */
const Expected = z.strictObject({
  kind: z.string(),
  /** `type selector`, in order; a code in boxes is `type*boxes selector`. */
  fields: z.array(z.string()).default([]),
  submit: z.string().nullable().default(null),
  /** `type`, and the provider or the MFA type where there is one; in any order. */
  choices: z.array(z.string()).default([]),
  error: z.string().nullable().default(null),
  link: z.string().nullable().default(null),
  status: z.number().default(200),
  /** Labels and hints of the fields, where they are what the fixture is about. */
  labels: z.array(z.string()).optional(),
  hints: z.array(z.string().nullable()).optional(),
});
export type Expected = z.infer<typeof Expected>;

/** Names of all fixtures that are pages of their own (a name that begins with `_` is a part of another one). */
export function fixtureNames(): string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.html') && !file.startsWith('_'))
    .map((file) => file.slice(0, -'.html'.length));
}

/** The expectation that a fixture begins with. */
export function expectedOf(name: string): Expected {
  const [line = ''] = readFileSync(join(FOLDER, `${name}.html`), 'utf8').split('\n');
  return Expected.parse(JSON.parse(line.replace(/^<!-- | -->$/g, '')));
}

/** Serves the fixtures; `{other}` in one becomes an origin that is not the page's own. */
export async function serveFixtures(): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url ?? '/', 'http://here').pathname).slice(1);
    try {
      const text = readFileSync(join(FOLDER, `${name}.html`), 'utf8');
      const { port } = server.address() as AddressInfo;
      const status = name.startsWith('_') ? 200 : expectedOf(name).status;
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headersOf(text) });
      // Nothing before the doctype, or the browser falls back to quirks.
      response.end(text.replace(/^<!--.*\n/, '').replaceAll('{other}', `http://localhost:${port}`));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** `<meta name="fixture-header" content="Name: value">` makes a header. */
function headersOf(text: string): Record<string, string> {
  const found = [...text.matchAll(/<meta name="fixture-header" content="([^":]+): ([^"]*)">/g)];
  return Object.fromEntries(found.map(([, name = '', value = '']) => [name, value]));
}
