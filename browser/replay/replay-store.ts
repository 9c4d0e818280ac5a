import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

/** What is known of a recording; it lies beside its video. */
const ReplayRecord = z.object({
  id: z.string(),
  sessionId: z.string(),
  projectId: z.string(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime().nullable(),
});
export type ReplayRecord = z.infer<typeof ReplayRecord>;

/** How long a video is kept after its recording began where nothing else is said, in milliseconds: to look into what went wrong. */
const DEFAULT_KEPT_MS = 7 * 24 * 60 * 60_000;

/** Videos on disk, in a folder of the service's alone (0700). They outlive their sessions and the service. */
export interface ReplayStore {
  /** Where the recorder writes. */
  videoPath(id: string): string;
  save(record: ReplayRecord): Promise<void>;
  /** Null when there is none of that session and of one of the projects. */
  find(projects: readonly string[], sessionId: string, id: string): Promise<ReplayRecord | null>;
  /** The one a token in a URL speaks for. */
  byId(id: string): Promise<ReplayRecord | null>;
  /** Oldest first. */
  list(projects: readonly string[], sessionId: string): Promise<ReplayRecord[]>;
  /** For the start of a service: ends what a dead one was recording, and removes what has been kept long enough. */
  tidy(now: number): Promise<void>;
  /** Removes what has been kept long enough, but what is still being recorded. */
  removeOld(now: number): Promise<void>;
}

export function createReplayStore(folder: string, keptMs = DEFAULT_KEPT_MS): ReplayStore {
  const videoPath = (id: string): string => path.join(folder, `${id}.mp4`);
  const recordPath = (id: string): string => path.join(folder, `${id}.json`);
  const read = async (id: string): Promise<ReplayRecord | null> => {
    if (!/^rep_\w+$/.test(id)) return null;
    try {
      return ReplayRecord.parse(JSON.parse(await readFile(recordPath(id), 'utf8')));
    } catch {
      // None of that id, or what a full disk left of one.
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

  const removeOld = async (now: number): Promise<void> => {
    const isOld = ({ startedAt, finishedAt }: ReplayRecord): boolean =>
      finishedAt !== null && now - Date.parse(startedAt) >= keptMs;
    for (const { id } of (await all()).filter(isOld))
      await Promise.all([videoPath(id), recordPath(id)].map((file) => rm(file, { force: true })));
  };
  const save = async (record: ReplayRecord): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const half = `${recordPath(record.id)}.half`;
    await writeFile(half, JSON.stringify(record), { mode: 0o600 });
    await rename(half, recordPath(record.id));
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
    tidy: async (now) => {
      for (const record of await all())
        if (record.finishedAt === null) await save({ ...record, finishedAt: new Date(now).toISOString() });
      await removeOld(now);
    },
    removeOld,
  };
}

/** Size of a video so far, in bytes; zero when the recorder has not written yet. */
export async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.size ?? 0;
}
