import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { ANSWER_HEADERS } from '../../http/headers.ts';
import type { Language } from '../hosted/shell.ts';
import { renderHead } from './page-head.ts';

/** A page without scripts, with its language and content security policy. */
export interface StaticPage {
  html: string;
  csp: string;
  language: Language;
}

/** The colors of http/palette.css, which only bundled pages can include. */
const STYLE = `
:root { color-scheme: light dark; --ground: #f3f4f1; --card: #fff; --ink: #16201f; --muted: #55615f; --line: #dfe3df; --line-strong: #7d8987; --accent: #0c5f58; --on-accent: #fff; }
@media (prefers-color-scheme: dark) { :root { --ground: #101415; --card: #181e1f; --ink: #e9eeec; --muted: #a3afad; --line: #2c3536; --line-strong: #7c8988; --accent: #69d2c5; --on-accent: #05211e; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 8vh 1rem 2rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif; overflow-wrap: anywhere; }
main { max-width: 30rem; margin: 0 auto; padding: 1.75rem; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
h1 { margin: 0 0 .75rem; font-size: 1.375rem; line-height: 1.25; }
p { margin: 0 0 1rem; }
a { color: var(--accent); }
code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .9em; }
fieldset { border: 0; padding: 0; margin: 1.25rem 0; }
legend { font-weight: 600; padding: 0; }
label { display: flex; gap: .625rem; align-items: baseline; padding: .375rem 0; }
.muted { color: var(--muted); font-size: .875rem; }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1.5rem 0 0; }
.button { display: inline-flex; align-items: center; min-height: 2.75rem; padding: .4375rem 1.125rem; border: 1px solid var(--line-strong); border-radius: 9px; background: var(--card); color: var(--ink); font: inherit; font-weight: 550; text-decoration: none; cursor: pointer; }
.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;
const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/**
 * A page of a few sentences and perhaps a form. `body` is HTML with foreign text already escaped. `formTargets`: CSP sources that
 * the form may be submitted or redirected to.
 */
export function staticPage(
  language: Language,
  { title, body, formTargets = "'none'" }: { title: string; body: string; formTargets?: string },
): StaticPage {
  return {
    language,
    html: `<!doctype html>
<html lang="${language}">
${renderHead({ title: `${title} · Holdfast`, own: `<style>${STYLE}</style>\n` })}
<body><main>${body}</main></body>
</html>
`,
    csp: `default-src 'none'; img-src data:; style-src ${STYLE_SOURCE}; form-action ${formTargets}; base-uri 'none'; frame-ancestors 'none'`,
  };
}

/** The response headers of a static page. */
export function staticPageHeaders({ csp, language }: StaticPage): Record<string, string> {
  return {
    ...ANSWER_HEADERS,
    'content-type': 'text/html; charset=utf-8',
    'content-language': language,
    'content-security-policy': csp,
    // Forms need a referrer, which their handlers check.
    'referrer-policy': 'same-origin',
    vary: 'accept, accept-language',
  };
}

/** Sends a static page. */
export function sendStaticPage(reply: FastifyReply, page: StaticPage): FastifyReply {
  return reply.headers(staticPageHeaders(page)).send(page.html);
}
