import { randomUUID } from 'node:crypto';
import { HoldfastError } from '../../contract/errors.ts';
import { withFileErrors } from './file-errors.ts';
import { openFolder } from './resolve-path.ts';
import type { SessionFiles } from './session-files.ts';
import type { WatchEvents } from './watch-events.ts';
import { createWatchEvents } from './watch-events.ts';
import type { TreeWatch } from './watch-tree.ts';
import { watchTree } from './watch-tree.ts';

/** Most watches of a session. */
const MAX_WATCHES = 16;

/** The watches of one session. */
export interface SessionWatches {
  /** Watches a folder and returns the watch's id. Throws `not_found`, `forbidden`, `invalid_request`, `operation_failed`. */
  start(path: string, recursive: boolean): Promise<string>;
  /** Throws `not_found`. */
  events(id: string): WatchEvents;
  /** Throws `not_found`. */
  stop(id: string): Promise<void>;
  /** Ends all watches and their readers. None can be started afterwards. */
  close(): Promise<void>;
}

export function createSessionWatches(files: SessionFiles, systemFolders: ReadonlySet<string>): SessionWatches {
  const watches = new Map<string, { watch: TreeWatch; events: WatchEvents }>();
  let starting = 0;
  let closed = false;

  const startNow = async (path: string, recursive: boolean): Promise<string> => {
    const events = createWatchEvents();
    const watch = await withFileErrors(() =>
      files.at(path, async (place) => {
        const folder = place.folder();
        const skip = place.name === null ? systemFolders : new Set<string>();
        return watchTree({ handle: await openFolder(`${folder}/.`), path: place.path, recursive, skip }, events);
      }),
    );
    const id = randomUUID();
    watches.set(id, { watch, events });
    if (closed) await end(id);
    return id;
  };
  const find = (id: string) => {
    const found = watches.get(id);
    if (found === undefined) throw new HoldfastError('not_found', 'Watch not found in the session; start another');
    return found;
  };
  const end = async (id: string): Promise<void> => {
    const { watch } = find(id);
    watches.delete(id);
    await watch.close();
  };

  return {
    start: async (path, recursive) => {
      // Watches that ended by themselves are kept for their readers while there is room.
      const ended = [...watches].find(([, { events }]) => events.hasEnded());
      if (watches.size + starting >= MAX_WATCHES && ended !== undefined) watches.delete(ended[0]);
      if (watches.size + starting >= MAX_WATCHES) {
        throw new HoldfastError(
          'operation_failed',
          `A session allows at most ${String(MAX_WATCHES)} directory watches; stop one first`,
        );
      }
      starting += 1;
      try {
        return await startNow(path, recursive);
      } finally {
        starting -= 1;
      }
    },
    events: (id) => find(id).events,
    stop: end,
    close: async () => {
      closed = true;
      await Promise.all([...watches.keys()].map(end));
    },
  };
}
