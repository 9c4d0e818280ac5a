import type { ConsoleSettings } from '../api/console/document.ts';
import { SANDBOX_USERS } from '../sandbox/site.ts';
import type { Settings } from './settings.ts';

/** What the console is told of this installation: where it can be tried, and where Temporal's UI is. */
export function consoleSettings(settings: Settings): ConsoleSettings {
  const [user] = SANDBOX_USERS;
  const ownTemporalUi = `http://localhost:${settings.ports.temporalUi}/namespaces/default`;
  return {
    sandbox:
      settings.sandbox && user !== undefined
        ? {
            loginUrl: `http://localhost:${settings.ports.sandbox}${user.loginPath}`,
            username: user.username,
            password: user.password,
          }
        : null,
    temporalUiUrl: settings.temporalUiUrl ?? (settings.externalTemporal === undefined ? ownTemporalUi : null),
  };
}
