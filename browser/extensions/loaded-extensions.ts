import type { Chromium } from '../chromium/launch.ts';

/** An extension, as in `Extensions.getExtensions`. */
interface DescribedExtension {
  id: string;
  /** By its manifest. */
  name: string;
  version: string;
  /** The name it was loaded under, instead of its path on this machine. */
  path: string;
  enabled: boolean;
}

/** Ids by name. A pooled browser keeps its extensions across sessions. */
const loaded = new WeakMap<Chromium, Map<string, string>>();

/** The extensions loaded into a browser, ids by name. Loading adds to this map. */
export function loadedExtensions(chromium: Chromium): Map<string, string> {
  const known = loaded.get(chromium) ?? new Map<string, string>();
  loaded.set(chromium, known);
  return known;
}

/** Whether an extension was loaded into the browser for its session. */
export function isLoadedExtension(chromium: Chromium, id: string): boolean {
  return [...loadedExtensions(chromium).values()].includes(id);
}

/** Describes the loaded extensions. Rejects with a `CdpError` if the browser does not support the command. */
export async function describeLoadedExtensions(chromium: Chromium): Promise<DescribedExtension[]> {
  const nameOf = new Map([...loadedExtensions(chromium)].map(([name, id]) => [id, name]));
  if (nameOf.size === 0) return [];
  const { extensions } = await chromium.cdp.send('Extensions.getExtensions');
  return extensions.flatMap(({ id, name, version, enabled }) => {
    const path = nameOf.get(id);
    return path === undefined ? [] : [{ id, name, version, path, enabled }];
  });
}
