/** The parts of a page's head that differ between pages. */
export interface PageHead {
  title: string;
  /** Added to the common `viewport`. */
  viewport?: string;
  /** The page's own elements: styles, scripts. */
  own: string;
}

/** Renders the head that all our pages share; search engines are told not to index them. */
export function renderHead({ title, viewport = '', own }: PageHead): string {
  return `<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover${viewport}">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f3f4f1" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#101415" media="(prefers-color-scheme: dark)">
<meta name="robots" content="noindex, nofollow">
<meta name="format-detection" content="telephone=no, email=no, address=no">
<link rel="icon" href="${ICON}">
${own}</head>`;
}

/** Renders `data-…` attributes, without those that have no value. */
export function dataAttributes(values: Record<string, string | null | undefined>): string {
  return Object.entries(values)
    .map(([name, value]) => (typeof value === 'string' ? ` data-${name}="${escapeHtml(value)}"` : ''))
    .join('');
}

/** Escapes text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&"'<>]/g, (char) => `&#${char.charCodeAt(0)};`);
}

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="#0c5f58"/><path d="M11 8v16M21 8v16M11 16h10" stroke="#fff" stroke-width="3" stroke-linecap="round" fill="none"/></svg>',
)}`;
