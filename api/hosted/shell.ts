import Negotiator from 'negotiator';
import type { PageParts } from './page-parts.ts';

/** Languages of the page. */
export const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];

const SHELL_TEXT: Record<Language, { title: string; noscript: string }> = {
  en: {
    title: 'Sign in · Holdfast',
    noscript:
      'This page needs JavaScript to sign you in. Please turn it on for this page and reload. Your link has not been used up.',
  },
  de: {
    title: 'Anmelden · Holdfast',
    noscript:
      'Diese Seite braucht JavaScript, um dich anzumelden. Bitte schalte es für diese Seite ein und lade sie neu. Dein Link ist noch nicht verbraucht.',
  },
};

/** The best of {@link LANGUAGES} for an `Accept-Language` header; English when none fits. */
export function chooseLanguage(header: string | undefined): Language {
  const best = new Negotiator({ headers: { 'accept-language': header } }).language([...LANGUAGES]);
  return LANGUAGES.find((language) => language === best) ?? 'en';
}

/** What differs between two answers of the page. The addresses have been checked (return-url.ts). */
export interface ShellInput {
  language: Language;
  successUrl: string | null;
  errorUrl: string | null;
}

/** The whole document. It is the same for every connection and says nothing of any: the script asks for that. */
export function renderShell(parts: PageParts, { language, successUrl, errorUrl }: ShellInput): string {
  const text = SHELL_TEXT[language];
  const data = [
    successUrl === null ? '' : ` data-success-url="${escapeAttribute(successUrl)}"`,
    errorUrl === null ? '' : ` data-error-url="${escapeAttribute(errorUrl)}"`,
  ].join('');
  return `<!doctype html>
<html lang="${language}"${data}>
<head>
<meta charset="utf-8">
<title>${text.title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f3f4f1" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#101415" media="(prefers-color-scheme: dark)">
<meta name="robots" content="noindex, nofollow">
<meta name="format-detection" content="telephone=no, email=no, address=no">
<link rel="icon" href="${ICON}">
<style>${parts.style}</style>
</head>
<body>
<div id="page"></div>
<noscript><p class="noscript">${text.noscript}</p></noscript>
<script>${parts.script}</script>
</body>
</html>
`;
}

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="#0c5f58"/><path d="M11 8v16M21 8v16M11 16h10" stroke="#fff" stroke-width="3" stroke-linecap="round" fill="none"/></svg>',
)}`;

function escapeAttribute(value: string): string {
  return value.replace(/[&"<>]/g, (char) => `&#${char.charCodeAt(0)};`);
}
