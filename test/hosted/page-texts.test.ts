import { describe, expect, test } from 'vitest';
import { DE } from '../../api/hosted/page/words-de.ts';
import { EN } from '../../api/hosted/page/words-en.ts';
import { FlowErrorCode } from '../../contract/connections.ts';

describe('words', () => {
  test('every error code has its own text', () => {
    expect(Object.keys(EN.failure).sort()).toEqual([...FlowErrorCode.options].sort());
  });

  test('German texts have the same placeholders as English ones', () => {
    const places = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).sort();
    const pairs = (english: object, german: object): [string, string, string][] =>
      Object.entries(english).flatMap(([key, value]: [string, unknown]) => {
        const other: unknown = Object.entries(german).find(([name]) => name === key)?.[1];
        if (typeof value === 'string' && typeof other === 'string')
          return [[key, value, other] as [string, string, string]];
        return typeof value === 'object' && value !== null && typeof other === 'object' && other !== null
          ? pairs(value, other)
          : [];
      });
    for (const [key, english, german] of pairs(EN, DE)) expect(places(german), key).toEqual(places(english));
  });
});
