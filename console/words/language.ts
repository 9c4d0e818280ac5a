/** Languages of the console. */
export type Language = 'en' | 'de';

const STORAGE_KEY = 'holdfast-language';

/** The language of this visit: what the person chose, else what the server made of the browser's wishes. */
export const language: Language = chosenLanguage() ?? (document.documentElement.lang === 'de' ? 'de' : 'en');
document.documentElement.lang = language;

/** Has the console speak another language from now on. It is loaded again for that. */
export function changeLanguage(next: Language): void {
  localStorage.setItem(STORAGE_KEY, next);
  location.reload();
}

function chosenLanguage(): Language | null {
  const kept = localStorage.getItem(STORAGE_KEY);
  return kept === 'en' || kept === 'de' ? kept : null;
}

type Widen<Value> = Value extends string ? string : { readonly [Key in keyof Value]: Widen<Value[Key]> };

/** The words of a part of the console in the language of this visit. The tables have the same keys, which the types hold. */
export function inLanguage<const English>(words: { en: English; de: Widen<English> }): Widen<English>;
export function inLanguage<Table>(words: { en: Table; de: Table }): Table {
  return words[language];
}

/** Fills `{name}` places in a sentence of ours. Unknown places stay as they are. */
export function fill(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (place, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : place,
  );
}
