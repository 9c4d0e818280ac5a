import type { SeenFrame } from './clusters.ts';
import type { TextFacts } from './facts.ts';

/** Whom a signed-in page names as its visitor. Each is there only when the page names one and no other. */
export interface NamedAccount {
  readonly email?: string;
  readonly name?: string;
}

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
/** Addresses that a site shows to everybody. */
const OF_THE_SITE =
  /^(info|support|contact|kontakt|hello|help|hilfe|service|sales|office|team|mail|admin|webmaster|no-?reply|press|presse|jobs|security|privacy|datenschutz|feedback|billing|shop|orders?)@/i;
const SIGNED_IN_AS =
  /^(?:(?:you are )?(?:signed|logged) in as|(?:sie sind |du bist )?(?:an|ein)gemeldet als|connecté(?:e)? en tant que|sesión iniciada como|accesso effettuato come|ingelogd als|inloggad som)\s*:?\s+(\S.{0,80}?)[.!]?$/iu;
/** A greeting with a name in it; `Welcome back` and `Welcome to Harbour` greet everybody. */
export const GREETING =
  /^(?:hello|hi|welcome|hallo|bonjour|hola|ciao|olá|hej|cześć),? (?!back|to|zurück|new|guest|there|everyone|and)(\p{Lu}[\p{L}.'-]+(?: \p{Lu}[\p{L}.'-]+)?)[!,.]?$/iu;

/**
 * Whom the page says that it is signed in as, from what stands in its furniture, in a greeting, or after `Signed in as`.
 * Nothing where it is silent or names several: what is not certain is not told. Pure.
 */
export function namedAccount(frames: readonly SeenFrame[]): NamedAccount {
  const texts = frames.flatMap(({ facts }) => facts.texts).filter(({ region }) => region !== 'footer');
  const claimed = texts.flatMap(({ text }) => SIGNED_IN_AS.exec(text.trim())?.[1] ?? []);
  const emails = [...claimed, ...texts.filter(isInFurniture).map(({ text }) => text.trim())]
    .filter((text) => EMAIL.test(text) && !OF_THE_SITE.test(text))
    .map((text) => text.toLowerCase());
  const greeted = texts
    .filter(({ heading, region }) => heading || region === 'header')
    .flatMap(({ text }) => GREETING.exec(text.trim())?.[1] ?? []);
  const names = [...claimed.filter((text) => !EMAIL.test(text)), ...greeted].map((text) => text.toLowerCase());
  const [email, name] = [onlyOne(emails), onlyOne(names)];
  return { ...(email === undefined ? {} : { email }), ...(name === undefined ? {} : { name }) };
}

function isInFurniture({ region }: TextFacts): boolean {
  return region === 'header' || region === 'nav' || region === 'aside';
}

function onlyOne(values: readonly string[]): string | undefined {
  const distinct = new Set(values);
  return distinct.size === 1 ? values[0] : undefined;
}
