/** Escaped HTML. */
export interface Html {
  readonly html: string;
}

/** Builds HTML and escapes every value that is not Html or a list of Html. */
export function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | number | Html | readonly Html[])[]
): Html {
  let out = parts[0] ?? '';
  values.forEach((value, index) => {
    out += render(value) + (parts[index + 1] ?? '');
  });
  return { html: out };
}

/** Empty HTML. */
export const nothing: Html = { html: '' };

/** A page of the site. Every login page has its own styles, like pages of different sites. */
export function document(title: string, styles: string, body: Html, language = 'en'): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${escape(title)}</title>
<style>${styles}</style>
</head>
<body>
${body.html}
</body>
</html>
`;
}

/** Shared styles. */
export const BASE_STYLES = `
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; color: #1c2733; background: #f4f6f8; }
header { display: flex; justify-content: space-between; padding: 1rem 2rem; background: #fff; border-bottom: 1px solid #dde3e9; }
main { max-width: 24rem; margin: 3rem auto; padding: 2rem; background: #fff; border: 1px solid #dde3e9; border-radius: 8px; }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem; margin: .25rem 0 1rem; }
input[type=checkbox] { width: auto; }
button { font: inherit; padding: .5rem 1rem; }
`;

function render(value: string | number | Html | readonly Html[]): string {
  if (typeof value === 'string' || typeof value === 'number') return escape(String(value));
  if ('html' in value) return value.html;
  return value.map((each) => each.html).join('');
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
