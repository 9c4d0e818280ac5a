import { z } from 'zod';
import type { ProfileCookie, ProfileState } from './state.ts';

const Entries = z.array(z.object({ name: z.string(), value: z.string() }));

/**
 * Playwright's `storageState`: cookies and local storage. It has no session storage, and no IndexedDB that every version
 * reads; an archive has both.
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

/** Converts the part of a state that Playwright supports. */
export function toStorageState(state: ProfileState): StorageState {
  return {
    cookies: state.cookies.map(
      ({ name, value, domain, path, expires = -1, httpOnly, secure, sameSite, partitionKey }) => ({
        ...{ name, value, domain, path, expires, httpOnly, secure },
        // Playwright requires a value; browsers treat a cookie without one as Lax.
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

/** Converts Playwright's state. */
export function fromStorageState({ cookies, origins }: StorageState): ProfileState {
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
