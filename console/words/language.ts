/** Languages of the console. */
export type Language = 'en' | 'de';

const STORAGE_KEY = 'holdfast-language';

/** The language of this visit: the person's choice, else the server's pick from the browser's preferences. */
export const language: Language = chosenLanguage() ?? (document.documentElement.lang === 'de' ? 'de' : 'en');
document.documentElement.lang = language;

/** Switches the language and reloads the page. */
export function changeLanguage(next: Language): void {
  localStorage.setItem(STORAGE_KEY, next);
  location.reload();
}

function chosenLanguage(): Language | null {
  const kept = localStorage.getItem(STORAGE_KEY);
  return kept === 'en' || kept === 'de' ? kept : null;
}

/** The texts in the language of this visit. The types require the same keys in both languages. */
export function inLanguage<Table>(words: { en: Table; de: NoInfer<Table> }): Table {
  return words[language];
}

/** Fills `{name}` placeholders. Unknown ones are kept. */
export function fill(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (place, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : place,
  );
}
