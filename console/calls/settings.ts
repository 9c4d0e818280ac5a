/** What the server tells the console beside its language (api/console/document.ts). */
export interface ServerSettings {
  /** The practice website, where it runs: its login page, and a user of it that everybody knows. */
  sandbox: { loginUrl: string; username: string; password: string } | null;
  /** Temporal's UI at the namespace of the workflows. */
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

/** Where Temporal's UI shows the workflow of a connection; null where nobody set its address. */
export function workflowUrl(connectionId: string): string | null {
  if (serverSettings.temporalUiUrl === null) return null;
  // The workflow is named by the part of the id that stands for the connection's place.
  return `${serverSettings.temporalUiUrl}/workflows/connection-${connectionId.slice('conn_'.length, 'conn_'.length + 32)}`;
}
