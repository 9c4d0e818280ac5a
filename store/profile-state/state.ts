import { z } from 'zod';

/** A cookie in the format of the browser's protocol. Session cookies (without `expires`) are saved as well. */
export const ProfileCookie = z.object({
  name: z.string(),
  value: z.string(),
  /** With a leading dot it includes subdomains; without, it is host-only. */
  domain: z.string(),
  path: z.string(),
  /** Seconds since the epoch; absent for a session cookie. */
  expires: z.number().optional(),
  httpOnly: z.boolean(),
  secure: z.boolean(),
  sameSite: z.enum(['Strict', 'Lax', 'None']).optional(),
  priority: z.enum(['Low', 'Medium', 'High']).optional(),
  sourceScheme: z.enum(['Unset', 'NonSecure', 'Secure']).optional(),
  sourcePort: z.number().optional(),
  partitionKey: z.object({ topLevelSite: z.string(), hasCrossSiteAncestor: z.boolean() }).optional(),
});
export type ProfileCookie = z.infer<typeof ProfileCookie>;

/** Web storage, by key. */
const Pairs = z.record(z.string(), z.string());

/** An IndexedDB database: schema and records. Values use the notation of `browser/profile/storage-script.ts`. */
export const ProfileDatabase = z.object({
  name: z.string(),
  version: z.number(),
  stores: z.array(
    z.object({
      name: z.string(),
      keyPath: z.union([z.string(), z.array(z.string()), z.null()]),
      autoIncrement: z.boolean(),
      indexes: z.array(
        z.object({
          name: z.string(),
          keyPath: z.union([z.string(), z.array(z.string())]),
          unique: z.boolean(),
          multiEntry: z.boolean(),
        }),
      ),
      records: z.array(z.object({ key: z.unknown(), value: z.unknown() })),
    }),
  ),
});
export type ProfileDatabase = z.infer<typeof ProfileDatabase>;

/** The browser storage of one origin. */
export const ProfileOrigin = z.object({
  origin: z.string(),
  localStorage: Pairs,
  sessionStorage: Pairs,
  indexedDB: z.array(ProfileDatabase),
});
export type ProfileOrigin = z.infer<typeof ProfileOrigin>;

/** Everything that keeps a browser logged in. The store seals it; it is never written anywhere else. */
export const ProfileState = z.object({
  cookies: z.array(ProfileCookie),
  origins: z.array(ProfileOrigin),
});
export type ProfileState = z.infer<typeof ProfileState>;

/** The state of a profile before the first save. */
const EMPTY_STATE: ProfileState = { cookies: [], origins: [] };

/** Parses a stored state; null is empty. Throws if it is invalid: better no browser than a damaged login. */
export function readState(stored: unknown): ProfileState {
  return stored === null || stored === undefined ? EMPTY_STATE : ProfileState.parse(stored);
}
