import Negotiator from 'negotiator';
import { dataAttributes, renderHead } from '../html/page-head.ts';
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

/** The best of {@link LANGUAGES} for an `Accept-Language` header; English if none matches. */
export function chooseLanguage(header: string | undefined): Language {
  const best = new Negotiator({ headers: { 'accept-language': header } }).language([...LANGUAGES]);
  return LANGUAGES.find((language) => language === best) ?? 'en';
}

/** What differs between responses. The URLs have been validated (return-url.ts). */
export interface ShellInput {
  language: Language;
  successUrl: string | null;
  errorUrl: string | null;
}

/** The HTML document. It is the same for every connection: its script fetches the data. */
export function renderShell(parts: PageParts, { language, successUrl, errorUrl }: ShellInput): string {
  const text = SHELL_TEXT[language];
  const data = dataAttributes({ 'success-url': successUrl, 'error-url': errorUrl });
  const head = renderHead({
    title: text.title,
    viewport: ', interactive-widget=resizes-content',
    own: `<style>${parts.style}</style>\n`,
  });
  return `<!doctype html>
<html lang="${language}"${data}>
${head}
<body>
<div id="page"></div>
<noscript><p class="noscript">${text.noscript}</p></noscript>
<script>${parts.script}</script>
</body>
</html>
`;
}
