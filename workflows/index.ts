/** The workflows that a worker bundles; names are those of messages.ts. */
export { authConnection } from './connection/connection.ts';
export { reauth } from './reauth.ts';
