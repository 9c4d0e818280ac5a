import { z } from 'zod';
import type { ProfileCookie, ProfileState } from './state.ts';

const Entries = z.array(z.object({ name: z.string(), value: z.string() }));

/**
 * A state as Playwright's `storageState` has it: cookies and local storage. It knows neither session storage nor, in a form that
 * every version reads, IndexedDB; an archive has both.
 */
export const StorageState = z.object({
  cookies: z.array(
    z.object({
      name: z.string(),
      value: z.string(),
      domain: z.string(),
      path: z.string(),
      /** Seconds since 1970; -1 for a session cookie. */
      expires: z.number(),
      httpOnly: z.boolean(),
      secure: z.boolean(),
      sameSite: z.enum(['Strict', 'Lax', 'None']).optional(),
      partitionKey: z.string().optional(),
      _crHasCrossSiteAncestor: z.boolean().optional(),
    }),
  ),
  origins: z.array(z.object({ origin: z.string(), localStorage: Entries })),
});
export type StorageState = z.infer<typeof StorageState>;

/** What of a state Playwright can be given. */
export function storageStateOf(state: ProfileState): StorageState {
  return {
    cookies: state.cookies.map(
      ({ name, value, domain, path, expires = -1, httpOnly, secure, sameSite, partitionKey }) => ({
        ...{ name, value, domain, path, expires, httpOnly, secure },
        // Playwright wants one; a cookie without is treated so by the browser.
        sameSite: sameSite ?? 'Lax',
        ...(partitionKey === undefined
          ? {}
          : {
              partitionKey: partitionKey.topLevelSite,
              _crHasCrossSiteAncestor: partitionKey.hasCrossSiteAncestor,
            }),
      }),
    ),
    origins: state.origins
      .filter(({ localStorage }) => Object.keys(localStorage).length > 0)
      .map(({ origin, localStorage }) => ({
        origin,
        localStorage: Object.entries(localStorage).map(([name, value]) => ({ name, value })),
      })),
  };
}

/** The state that Playwright's describes. */
export function stateOfStorage({ cookies, origins }: StorageState): ProfileState {
  return {
    cookies: cookies.map(
      ({ expires, partitionKey, _crHasCrossSiteAncestor: hasCrossSiteAncestor = true, ...cookie }) => {
        const { sameSite, ...rest } = cookie;
        const read: ProfileCookie = rest;
        if (sameSite !== undefined) read.sameSite = sameSite;
        if (expires >= 0) read.expires = expires;
        if (partitionKey !== undefined) read.partitionKey = { topLevelSite: partitionKey, hasCrossSiteAncestor };
        return read;
      },
    ),
    origins: origins.map(({ origin, localStorage }) => ({
      origin,
      localStorage: Object.fromEntries(localStorage.map(({ name, value }) => [name, value])),
      sessionStorage: {},
      indexedDB: [],
    })),
  };
}
