const ODD_LETTERS: Readonly<Record<string, string>> = {
  ı: 'i',
  ß: 'ss',
  ł: 'l',
  ø: 'o',
  æ: 'ae',
  œ: 'oe',
  đ: 'd',
  '’': "'",
};

/**
 * Text as the word lists want it: lower case, one space between words, Latin letters without their accents. Other scripts
 * keep all their marks.
 */
export function normalize(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/([a-z])[\u0300-\u036f]+/gi, '$1')
    .normalize('NFC')
    .toLowerCase()
    .replace(/\u0307/g, '')
    .replace(/[ıßłøæœđ’]/g, (letter) => ODD_LETTERS[letter] ?? letter)
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
 * A pattern for any of some phrases, given in lists parted by commas; where a site writes a comma inside a phrase, the list
 * has a space. Latin ones must stand as whole words (write `*` at the end for any ending); words of other
 * scripts match anywhere, since those scripts do not part words by spaces or inflect them.
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

/** The parts of an address's path that are words: what looks like an id or a token is left out. */
export function pathWords(path: string): string[] {
  return path.split('/').filter((part) => /^[a-z_.-]{1,30}$/i.test(part));
}
