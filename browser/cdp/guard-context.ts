import path from 'node:path';
import { isLoadedExtension } from '../extensions/loaded-extensions.ts';
import type { Session } from '../session/session.ts';
import type { GuardContext } from './guard.ts';

/** What the guard must know of a session, for any protocol by which it is driven. */
export function guardContextOf({ chromium }: Session): GuardContext {
  return {
    downloadFolder: path.join(chromium.userDataDir, 'Downloads'),
    hasExtension: (id) => isLoadedExtension(chromium, id),
  };
}
