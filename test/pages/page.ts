/** Groups of the corpus, as the table of figures names them. */
export type PageClass = 'one password' | 'none or several passwords' | 'fragment' | 'silent' | 'state';

/** What a page is known to be. Elements carry their part in a `truth` attribute, which no rule looks at. */
export interface Truth {
  /** Values of `truth` of the fields, in order, with the type that is expected: `password`, `code`, `totp_code`… */
  readonly fields?: readonly string[];
  /** False where the form has nothing to press. Default: there is an element with `truth="submit"`. */
  readonly submit?: boolean;
  /** Providers, in any order. */
  readonly providers?: readonly string[];
  /** Kinds that are right; default `form` where there are fields, else anything but `form`. */
  readonly kind?: readonly string[];
  /** Whether a control leads to a login: one with `truth="entrance"`, or none. Nothing is known where it is left out. */
  readonly entrance?: boolean;
  /** Channel of the code field. */
  readonly channel?: string;
  /** Types of the choices that are no providers, in any order; unknown when left out. */
  readonly choices?: readonly string[];
}

/** One page of the corpus. */
export interface CorpusPage {
  /** `shape/variant`; decides whether the page is held out. */
  readonly name: string;
  readonly group: PageClass;
  readonly address: string;
  readonly html: string;
  readonly status?: number;
  /** Documents of frames, by address. */
  readonly frames?: Readonly<Record<string, string>>;
  readonly truth: Truth;
}

/** Before its name and group are known. */
export type Draft = Omit<CorpusPage, 'name' | 'group' | 'address'> & { readonly path?: string };

/** A whole document. */
export function documentOf(parts: {
  title: string;
  body: string;
  language?: string;
  rtl?: boolean | undefined;
  head?: string;
}): string {
  const direction = parts.rtl === true ? ' dir="rtl"' : '';
  return `<!doctype html><html lang="${parts.language ?? 'en'}"${direction}><head><meta charset="utf-8"><title>${parts.title}</title>${parts.head ?? ''}</head><body>${parts.body}</body></html>`;
}
