import type { ManagedAuth } from '../../contract/connections.ts';
import { presentConnection, type ConnectionDocument } from '../../contract/document.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { ConnectionRow } from '../../store/queries/connection-lookups.ts';
import { telemetryOf } from './settings.ts';
import { isPrincipal, type Caller } from '../caller.ts';
import type { Accepted, ApiDeps } from '../context.ts';
import { requireFound } from '../nullish.ts';
import type { HandoffCodes } from './tokens.ts';

/** How long a response waits for an accepted change to be recorded, in milliseconds. */
const READ_YOUR_WRITES_MS = 5000;

/** Shared by the routes of connections: lookup, read-your-writes, and the public representation. */
export interface ConnectionViews {
  /** The connection in the caller's scope. Throws `not_found`, and `forbidden` for a token of another connection. */
  find(caller: Caller, id: string): Promise<ConnectionRow>;
  /** The newest recorded document that includes `accepted`; the accepted document itself if recording takes too long. */
  waitUntilRecorded(accepted: Accepted): Promise<ConnectionDocument>;
  /** The public representation at a time; links to the hosted page and the browser only if `showAccess`. */
  present(document: ConnectionDocument, showAccess: boolean, at?: Date): ManagedAuth;
  /** A new link to the hosted page for a flow, and the handoff code in it. */
  hostedLink(connectionId: string, flowId: string): { url: string; code: string };
}

/** Creates the views of one API process. */
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
      const row = await deps.store.connections.byId(caller.scope, id);
      return requireFound(row, 'Connection not found; check its id and the project');
    },
    async waitUntilRecorded({ revision, document }) {
      const row = await deps.store.connections.waitForRevision(document.id, revision, READ_YOUR_WRITES_MS);
      return row?.document ?? document;
    },
    present(document, showAccess, at = deps.clock()) {
      const link = showAccess ? (flowId: string) => hostedLink(document.id, flowId).url : null;
      const connection = withTelemetry(presentConnection(document, at, link));
      return showAccess ? connection : { ...connection, browser_session_id: null, live_view_url: null };
    },
    hostedLink,
  };
}

/** Shows telemetry settings in both the current and the deprecated field, whichever they were set in. */
function withTelemetry(connection: ManagedAuth): ManagedAuth {
  const telemetry = telemetryOf(connection);
  if (telemetry === undefined) return connection;
  return { ...connection, browser: { ...connection.browser, telemetry }, browser_telemetry: telemetry };
}
