import type { Language } from '../hosted/shell.ts';
import { dataAttributes, renderHead } from '../html/page-head.ts';
import type { ConsoleAssets } from './assets.ts';

/** Path of the console's files. */
export const ASSET_PATH = '/console/assets/';

const TEXT: Record<Language, { title: string; noscript: string }> = {
  en: { title: 'Holdfast', noscript: 'The console needs JavaScript. Please turn it on for this page and reload.' },
  de: {
    title: 'Holdfast',
    noscript: 'Die Konsole braucht JavaScript. Bitte schalte es für diese Seite ein und lade sie neu.',
  },
};

/** Settings for the script, besides its language; none is secret. */
export interface ConsoleSettings {
  /** Login page and public test user of the practice website; null if it is not running. */
  sandbox: { loginUrl: string; username: string; password: string } | null;
  /** Temporal's UI for the workflows' namespace, without trailing slash; null if not configured. */
  temporalUiUrl: string | null;
}

/** The HTML document of every console page. It contains no data: the script fetches that. */
export function renderDocument(
  assets: ConsoleAssets,
  { language, nonce, settings }: { language: Language; nonce: string; settings: ConsoleSettings },
): string {
  const text = TEXT[language];
  const preloads = assets.preloads.map((name) => `<link rel="modulepreload" href="${ASSET_PATH}${name}">\n`).join('');
  const { sandbox, temporalUiUrl } = settings;
  const data = dataAttributes({
    'sandbox-url': sandbox?.loginUrl,
    'sandbox-user': sandbox?.username,
    'sandbox-password': sandbox?.password,
    temporal: temporalUiUrl,
  });
  const own = `<meta property="csp-nonce" nonce="${nonce}">
<link rel="stylesheet" href="${ASSET_PATH}${assets.style}">
<script type="module" src="${ASSET_PATH}${assets.script}"></script>
${preloads}`;
  return `<!doctype html>
<html lang="${language}"${data}>
${renderHead({ title: text.title, own })}
<body>
<div id="console"></div>
<noscript><p class="noscript">${text.noscript}</p></noscript>
</body>
</html>
`;
}
