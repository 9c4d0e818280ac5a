/** What the files of a tier need. `soak` needs everything. */
export type Tier = 'plain' | 'temporal' | 'browser' | 'e2e' | 'soak';

/** The tier of a test file, from its suffix: `.test.ts` is `plain`, `.browser.test.ts` is `browser`, and so on. */
export function tierOf(path: string): Tier {
  const [, suffix] = /\.(temporal|browser|e2e|soak)\.test\.ts$/.exec(path) ?? [];
  return suffix === 'temporal' || suffix === 'browser' || suffix === 'e2e' || suffix === 'soak' ? suffix : 'plain';
}
