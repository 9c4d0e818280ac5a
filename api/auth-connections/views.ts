import type { ManagedAuth } from '../../contract/connections.ts';
import { presentConnection, type ConnectionDocument } from '../../contract/document.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { ConnectionRow } from '../../store/queries/connection-lookups.ts';
import type { Scope } from '../../store/scope.ts';
import { telemetryOf } from './settings.ts';
import { isPrincipal, type Caller } from '../caller.ts';
import type { Accepted, ApiDeps } from '../context.ts';
import { requireFound } from '../nullish.ts';
import type { HandoffCodes } from './tokens.ts';

/** How long an answer waits for the store to show what the workflow has accepted, in milliseconds. */
const READ_YOUR_WRITES_MS = 5000;

/** What the routes of connections share: finding one, waiting for a write to show, and the public shape. */
export interface ConnectionViews {
  /** The connection in the caller's scope; `not_found` otherwise. The hosted page reaches its own one only. */
  find(caller: Caller, id: string): Promise<ConnectionRow>;
  /** The newest recorded document, once it includes what `accepted` says; the accepted one when that takes too long. */
  waitUntilRecorded(accepted: Accepted): Promise<ConnectionDocument>;
  /** The public shape, with links to the hosted page and the ways into the browser only for who may see them. */
  present(document: ConnectionDocument, showsAccess: boolean, at?: Date): ManagedAuth;
  /** A fresh link to the hosted page for one flow, and the code in it. */
  hostedLink(connectionId: string, flowId: string): { url: string; code: string };
}

export function createConnectionViews(
  deps: Pick<ApiDeps, 'store' | 'settings' | 'clock'>,
  codes: HandoffCodes,
): ConnectionViews {
  const publicUrl = deps.settings.publicUrl.replace(/\/+$/, '');

  function hostedLink(connectionId: string, flowId: string) {
    const code = codes.mint(connectionId, flowId);
    return { url: `${publicUrl}/login/${connectionId}?code=${code}`, code };
  }

  return {
    async find(caller, id) {
      if (!isPrincipal(caller) && caller.connectionId !== id) {
        throw new HoldfastError('forbidden', 'This token is for another connection; use an API key');
      }
      return findInScope(deps.store, caller.scope, id);
    },
    async waitUntilRecorded({ revision, document }) {
      const row = await deps.store.connections.waitForRevision(document.id, revision, READ_YOUR_WRITES_MS);
      return row?.document ?? document;
    },
    present(document, showsAccess, at = deps.clock()) {
      const link = showsAccess ? (flowId: string) => hostedLink(document.id, flowId).url : null;
      const connection = withTelemetry(presentConnection(document, at, link));
      return showsAccess ? connection : { ...connection, browser_session_id: null, live_view_url: null };
    },
    hostedLink,
  };
}

/** Telemetry settings show in their place and in the deprecated one, whichever they were given in. */
function withTelemetry(connection: ManagedAuth): ManagedAuth {
  const telemetry = telemetryOf(connection);
  if (telemetry === undefined) return connection;
  return { ...connection, browser: { ...connection.browser, telemetry }, browser_telemetry: telemetry };
}

/** The connection with that id, when the scope holds it; `not_found` otherwise. */
export async function findInScope(store: ApiDeps['store'], scope: Scope, id: string): Promise<ConnectionRow> {
  return requireFound(await store.connections.byId(scope, id), 'Connection not found; check its id and the project');
}
