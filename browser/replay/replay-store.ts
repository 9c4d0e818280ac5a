import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

/** Metadata of a recording, stored next to its video. */
const ReplayRecord = z.object({
  id: z.string(),
  sessionId: z.string(),
  projectId: z.string(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime().nullable(),
});
export type ReplayRecord = z.infer<typeof ReplayRecord>;

/** Default time a video is kept after its recording started, in milliseconds. */
const DEFAULT_RETENTION_MS = 7 * 24 * 60 * 60_000;

/** Videos on disk, in a private folder (0700). They outlive their sessions and the service. */
export interface ReplayStore {
  videoPath(id: string): string;
  save(record: ReplayRecord): Promise<void>;
  /** Null if it does not exist or is not of that session and one of the projects. */
  find(projects: readonly string[], sessionId: string, id: string): Promise<ReplayRecord | null>;
  /** For URLs with a token, which are not bound to a project. */
  byId(id: string): Promise<ReplayRecord | null>;
  /** Oldest first. */
  list(projects: readonly string[], sessionId: string): Promise<ReplayRecord[]>;
  /** Call at startup: marks recordings that a crash interrupted as finished, and removes expired ones. */
  recover(now: number): Promise<void>;
  /** Removes finished recordings whose retention has passed. */
  removeExpired(now: number): Promise<void>;
}

/** Creates a store in `folder`, which is created on the first save. */
export function createReplayStore(folder: string, retentionMs = DEFAULT_RETENTION_MS): ReplayStore {
  const videoPath = (id: string): string => path.join(folder, `${id}.mp4`);
  const recordPath = (id: string): string => path.join(folder, `${id}.json`);
  const read = async (id: string): Promise<ReplayRecord | null> => {
    if (!/^rep_\w+$/.test(id)) return null;
    try {
      return ReplayRecord.parse(JSON.parse(await readFile(recordPath(id), 'utf8')));
    } catch {
      // It does not exist, or a full disk has truncated it.
      return null;
    }
  };
  const all = async (): Promise<ReplayRecord[]> => {
    const names = await readdir(folder).catch(() => []);
    const records = await Promise.all(
      names.filter((name) => name.endsWith('.json')).map((name) => read(name.slice(0, -'.json'.length))),
    );
    return records.filter((record) => record !== null);
  };

  const removeExpired = async (now: number): Promise<void> => {
    const isExpired = ({ startedAt, finishedAt }: ReplayRecord): boolean =>
      finishedAt !== null && now - Date.parse(startedAt) >= retentionMs;
    for (const { id } of (await all()).filter(isExpired))
      await Promise.all([videoPath(id), recordPath(id)].map((file) => rm(file, { force: true })));
  };
  const save = async (record: ReplayRecord): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const partial = `${recordPath(record.id)}.partial`;
    await writeFile(partial, JSON.stringify(record), { mode: 0o600 });
    await rename(partial, recordPath(record.id));
  };

  return {
    videoPath,
    byId: read,
    save,
    find: async (projects, sessionId, id) => {
      const record = await read(id);
      return record?.sessionId === sessionId && projects.includes(record.projectId) ? record : null;
    },
    list: async (projects, sessionId) =>
      (await all())
        .filter((record) => record.sessionId === sessionId && projects.includes(record.projectId))
        .sort((left, right) => left.startedAt.localeCompare(right.startedAt)),
    recover: async (now) => {
      for (const record of await all())
        if (record.finishedAt === null) await save({ ...record, finishedAt: new Date(now).toISOString() });
      await removeExpired(now);
    },
    removeExpired,
  };
}

/** The current size of a video, in bytes; zero if nothing is written yet. */
export async function videoSize(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.size ?? 0;
}
