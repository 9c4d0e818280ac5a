const LETTER_VARIANTS: Readonly<Record<string, string>> = {
  ı: 'i',
  ß: 'ss',
  ł: 'l',
  ø: 'o',
  æ: 'ae',
  œ: 'oe',
  đ: 'd',
  '’': "'",
};

/** Normalizes text for the word lists: lower case, single spaces, Latin letters without accents. Other scripts keep their marks. */
export function normalize(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/([a-z])[\u0300-\u036f]+/gi, '$1')
    .normalize('NFC')
    .toLowerCase()
    .replace(/\u0307/g, '')
    .replace(/[ıßłøæœđ’]/g, (letter) => LETTER_VARIANTS[letter] ?? letter)
    .replace(/[\s\u200b\u200c\u00ad]+/g, ' ')
    .trim();
}

/** The words in an identifier: `txtUserName`, `user[login]` and `user-name` become `txt user name`, `user login`, `user name`. */
export function identifierWords(...names: readonly string[]): string {
  return normalize(
    names
      .join(' ')
      .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
      .replace(/[^\p{L}\p{N}]+/gu, ' '),
  );
}

/**
 * Compiles comma-separated phrases into one pattern; a space in a phrase also matches a comma or a hyphen. Latin phrases match
 * whole words (`*` at the end allows any ending); those of other scripts match anywhere, since these scripts do not separate
 * words by spaces, or inflect them.
 */
export function anyOf(...lists: readonly string[]): RegExp {
  const latin: string[] = [];
  const other: string[] = [];
  for (const word of lists.flatMap((list) => list.split(', '))) {
    const plain = normalize(word.replace(/\*$/, ''));
    const pattern = plain.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/ /g, ',?[ \\-]?');
    if (/[a-z0-9]/.test(plain)) latin.push(word.endsWith('*') ? `${pattern}[a-z]*` : pattern);
    else other.push(pattern);
  }
  const alternatives = latin.length > 0 ? [`(?<![a-z0-9])(?:${latin.join('|')})(?![a-z0-9])`] : [];
  return new RegExp([...alternatives, ...other].join('|'), 'u');
}

/** The segments of a URL path that are words rather than ids or tokens. */
export function pathWords(path: string): string[] {
  return path.split('/').filter((part) => /^[a-z_.-]{1,30}$/i.test(part));
}
