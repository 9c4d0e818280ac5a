import type { Chromium } from '../chromium/launch.ts';

/** An extension as `Extensions.getExtensions` tells of it. */
interface DescribedExtension {
  id: string;
  /** By its manifest. */
  name: string;
  version: string;
  /** The name that it was loaded by: where it lies on this machine is nobody's business. */
  path: string;
  enabled: boolean;
}

/** Ids by the names that extensions were loaded by; a browser of a pool keeps them from session to session. */
const loaded = new WeakMap<Chromium, Map<string, string>>();

/** Extensions that were loaded into a browser: id by name. Loading one notes it here. */
export function loadedExtensions(chromium: Chromium): Map<string, string> {
  const known = loaded.get(chromium) ?? new Map<string, string>();
  loaded.set(chromium, known);
  return known;
}

/** True for the id of an extension that was loaded into the browser for its session. */
export function isLoadedExtension(chromium: Chromium, id: string): boolean {
  return [...loadedExtensions(chromium).values()].includes(id);
}

/** What was loaded, as the browser tells it. Rejects with a `CdpError` where the browser does not know the command. */
export async function describeLoadedExtensions(chromium: Chromium): Promise<DescribedExtension[]> {
  const nameOf = new Map([...loadedExtensions(chromium)].map(([name, id]) => [id, name]));
  if (nameOf.size === 0) return [];
  const { extensions } = await chromium.cdp.send('Extensions.getExtensions');
  return extensions.flatMap(({ id, name, version, enabled }) => {
    const path = nameOf.get(id);
    return path === undefined ? [] : [{ id, name, version, path, enabled }];
  });
}
