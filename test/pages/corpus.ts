import { drawFor, hashOf } from './draw.ts';
import { FRAGMENTS } from './fragments.ts';
import { HOMES } from './homes.ts';
import { ENGLISH, LANGUAGES, type Words } from './languages.ts';
import { LOGINS, type Shape } from './logins.ts';
import type { CorpusPage, PageClass } from './page.ts';
import { SKINS, PLAIN } from './parts.ts';
import { PROVIDER_PAGES } from './provider-pages.ts';
import { SILENT } from './silent.ts';
import { STATES } from './states.ts';
import { STEPS } from './steps.ts';

/** Pages of one shape; each in a language and a skin that its number draws. */
const PER_SHAPE: Readonly<Record<PageClass, number>> = {
  'one password': 10,
  'none or several passwords': 8,
  fragment: 20,
  silent: 10,
  state: 8,
};
/** Providers have few shapes and many ways to be drawn. */
const PER_PROVIDER_SHAPE = 20;

/** The whole corpus: always the same pages, in the same order. */
export function corpus(): CorpusPage[] {
  return [
    ...pagesOf('one password', LOGINS),
    ...pagesOf('none or several passwords', STEPS),
    ...pagesOf('fragment', FRAGMENTS),
    ...pagesOf('silent', SILENT),
    ...pagesOf('one password', PROVIDER_PAGES, PER_PROVIDER_SHAPE),
    ...pagesOf('state', STATES),
    ...pagesOf('state', HOMES),
  ];
}

/** True for the third of the pages that no rule is made from: it is only reported. */
export function isHeldOut(page: CorpusPage): boolean {
  return hashOf(page.name) % 3 === 0;
}

function pagesOf(group: PageClass, shapes: Readonly<Record<string, Shape>>, count = PER_SHAPE[group]): CorpusPage[] {
  return Object.entries(shapes).flatMap(([shape, make]) =>
    Array.from({ length: count }, (_, at) => {
      const words = languageOf(group, at);
      const skin = SKINS[(at * 7 + hashOf(shape)) % SKINS.length] ?? PLAIN;
      const name = `${shape}/${at}-${words.code}-${skin.name}`;
      const { path = '/', truth, ...draft } = make(words, skin, drawFor(name));
      const silent = (truth.fields ?? []).length === 0 && group === 'one password';
      const address = `https://${hashOf(name).toString(36)}.harbour.test${path}`;
      return { ...draft, truth, name, group: silent ? ('silent' as const) : group, address };
    }),
  );
}

/** Every second page is English, as on the web; fragments go through all languages. */
function languageOf(group: PageClass, at: number): Words {
  if (group === 'fragment') return LANGUAGES[at % LANGUAGES.length] ?? ENGLISH;
  return at % 2 === 0 ? ENGLISH : (LANGUAGES[((at * 5) % (LANGUAGES.length - 1)) + 1] ?? ENGLISH);
}
