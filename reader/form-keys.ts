import type { ReadChoice } from '../contract/reading.ts';
import type { Cluster } from './clusters.ts';
import { identifierWords, normalize, pathWords } from './normalize.ts';

/** A cluster and what it is known by on the next visit. */
export interface KeyedCluster<Each extends Cluster> {
  readonly cluster: Each;
  readonly key: string;
}

const MAX_KEY = 200;

/** Gives every cluster of a page its key: words of the page alone, without numbers, which scripts count up from visit to visit. */
export function formKeys<Each extends Cluster>(clusters: readonly Each[]): KeyedCluster<Each>[] {
  const seen = new Map<string, number>();
  return clusters.map((cluster) => {
    const key = keyOf(cluster);
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return { cluster, key: count === 1 ? key : `${key} #${count}` };
  });
}

/** The key of a page that only offers choices. */
export function choicesKey(choices: readonly ReadChoice[]): string {
  return `choices ${steady(choices.map(({ type, provider, label }) => `${type} ${provider ?? label}`).join(', '))}`.slice(
    0,
    MAX_KEY,
  );
}

function keyOf({ controls, form, heading }: Cluster): string {
  const fields = controls.map(({ control, meaning }) => `${meaning} ${control.name || control.id || control.label}`);
  const place =
    form === undefined ? '' : identifierWords(form.id, form.name, form.label, pathWords(pathOf(form.action)).join(' '));
  return [fields.join(', '), place, normalize(heading)].map(steady).join(' | ').slice(0, MAX_KEY);
}

/** Without what may differ between two visits: numbers, and the address of whoever is greeted. */
function steady(text: string): string {
  return text
    .replace(/\S+@\S+/g, '')
    .replace(/\d+/g, '')
    .trim();
}

/** The path of what a form names as its address, which may be no whole one. */
function pathOf(action: string): string {
  return action.replace(/[?#].*$/s, '').replace(/^https?:\/\/[^/]*/, '');
}
