import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { CorpusPage, PageClass } from './page.ts';

const FOLDER = join(import.meta.dirname, 'written');

/** What the line above a page may say beside its name and its address. */
const Options = z.strictObject({
  kind: z.array(z.string()).optional(),
  /** Also read without its styles, as a page whose style sheets cannot be loaded: what was hidden shows, the truth stays. */
  bare: z.boolean().default(false),
});

/** Pages written by hand after what real sites and their software send. Their `truth` attributes say what is expected. */
export function writtenPages(): CorpusPage[] {
  return readdirSync(FOLDER).flatMap((file) => {
    const [, ...parts] = readFileSync(join(FOLDER, file), 'utf8').split(/^<!-- (page|frame) (.*) -->\n/m);
    const pages: { head: string; html: string; frames: Record<string, string> }[] = [];
    for (let at = 0; at < parts.length; at += 3) {
      const [what, head = '', html = ''] = parts.slice(at, at + 3);
      if (what === 'page') pages.push({ head, html, frames: {} });
      else Object.assign(pages.at(-1)?.frames ?? {}, { [head]: wholeOf(html) });
    }
    return pages.flatMap(({ head, html, frames }) => {
      const [, name = '', address = '', options = '{}'] = /^(\S+) (\S+)(?: (\{.*\}))?$/.exec(head) ?? [];
      const { kind, bare } = Options.parse(JSON.parse(options));
      const whole = { html: wholeOf(html), frames };
      const truth = { ...truthOf([html, ...Object.values(frames)].join('')), ...(kind ? { kind } : {}) };
      const page = { ...whole, name: `written/${name}`, group: groupOf(file, truth.fields), address, truth };
      const { protocol, host, pathname, search } = new URL(address);
      const unstyled = { name: `${page.name}-bare`, address: `${protocol}//bare.${host}${pathname}${search}` };
      return bare ? [page, { ...page, ...unstyled, html: withoutStyles(page.html) }] : [page];
    });
  });
}

function wholeOf(html: string): string {
  return `<!doctype html><meta charset="utf-8">${html}`;
}

function withoutStyles(html: string): string {
  return html.replace(/<style>.*?<\/style>/gs, '').replace(/ style="[^"]*"/g, '');
}

function truthOf(html: string): { fields: string[]; providers: string[]; submit: boolean } {
  const truths = [...html.matchAll(/ truth=([\w:]+)/g)].map(([, truth = '']) => truth);
  return {
    fields: truths.filter((truth) => truth !== 'submit' && !truth.startsWith('sso:')),
    providers: truths.filter((truth) => truth.startsWith('sso:')),
    submit: truths.includes('submit'),
  };
}

function groupOf(file: string, fields: readonly string[]): PageClass {
  if (file.startsWith('fragments')) return 'fragment';
  if (fields.length === 0) return 'silent';
  return fields.filter((field) => field === 'password').length === 1 ? 'one password' : 'none or several passwords';
}
