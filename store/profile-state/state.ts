import { z } from 'zod';

/** A cookie as the browser's protocol reads and writes it. Without `expires` it is a session cookie, kept as well. */
export const ProfileCookie = z.object({
  name: z.string(),
  value: z.string(),
  /** With a leading dot it is good for subdomains too, without one for this host alone. */
  domain: z.string(),
  path: z.string(),
  /** Seconds since 1970; absent for a session cookie. */
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

/** Key and value of web storage. */
const Pairs = z.record(z.string(), z.string());

/** An IndexedDB database: its schema and records. Values are written in the notation of `page/storage-script.ts`. */
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

/** What one origin keeps in the browser. */
export const ProfileOrigin = z.object({
  origin: z.string(),
  localStorage: Pairs,
  sessionStorage: Pairs,
  indexedDB: z.array(ProfileDatabase),
});
export type ProfileOrigin = z.infer<typeof ProfileOrigin>;

/** Everything that makes a browser logged in. It is sealed by the store and never written anywhere else. */
export const ProfileState = z.object({
  cookies: z.array(ProfileCookie),
  origins: z.array(ProfileOrigin),
});
export type ProfileState = z.infer<typeof ProfileState>;

/** The state of a profile that was never saved. */
export const EMPTY_STATE: ProfileState = { cookies: [], origins: [] };

/** Reads a stored state; null means empty. Throws when it is none: better no browser than a damaged login. */
export function readState(stored: unknown): ProfileState {
  return stored === null || stored === undefined ? EMPTY_STATE : ProfileState.parse(stored);
}
