/** The workflows that a worker bundles; names are those of messages.ts. */
export { authConnection } from './connection/connection.ts';
export { login, reauth } from './flow/flow-workflows.ts';
