/** Settings that the server puts into the document (api/console/document.ts). */
export interface ServerSettings {
  /** The practice website's login page and test user; null if it is not running. */
  sandbox: { loginUrl: string; username: string; password: string } | null;
  /** Temporal's UI for the workflows' namespace. */
  temporalUiUrl: string | null;
}

const { sandboxUrl, sandboxUser, sandboxPassword, temporal } = document.documentElement.dataset;

export const serverSettings: ServerSettings = {
  sandbox:
    sandboxUrl === undefined
      ? null
      : { loginUrl: sandboxUrl, username: sandboxUser ?? '', password: sandboxPassword ?? '' },
  temporalUiUrl: temporal ?? null,
};

/** A connection's workflow in Temporal's UI; null if no UI is configured. */
export function workflowUrl(connectionId: string): string | null {
  if (serverSettings.temporalUiUrl === null) return null;
  // The workflow id is derived from the first 32 characters of the connection id.
  return `${serverSettings.temporalUiUrl}/workflows/connection-${connectionId.slice('conn_'.length, 'conn_'.length + 32)}`;
}
