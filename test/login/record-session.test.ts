import { afterEach, describe, expect, it } from 'vitest';
import { saveRecordings, recordSession } from '../../activities/login/session/record-session.ts';
import type { LoginTarget } from '../../contract/activities.ts';
import type { RecordingQueries } from '../../store/queries/recordings.ts';
import { loginTarget } from './login-fixtures.ts';
import type { PeerBehavior, RecordingPeer } from './recording-peer.ts';
import { startRecordingPeer, VIDEO } from './recording-peer.ts';

type Kept = Parameters<RecordingQueries['keep']>;

const FOLDER = '/tmp/recording';
const REPLAYS: PeerBehavior['replays'] = { GET: [200, []], POST: [201, { replay_id: 'rep_new', more: 1 }] };
const RECORDED = { recordSession: true };

let peer: RecordingPeer;
/** What the last one said of its failure. */
let told: string | null;
afterEach(() => peer.stop());

async function record(
  behavior: PeerBehavior = {},
  more: Partial<LoginTarget> = RECORDED,
  signal = new AbortController().signal,
): Promise<string | null> {
  peer = await startRecordingPeer(behavior);
  const { replayId, replayError } = await recordSession(peer.service, loginTarget(more), 'b/1', 60, signal);
  told = replayError;
  return replayId;
}

/** What is kept of the session in the end. */
async function keep(more: Partial<LoginTarget> = RECORDED): Promise<Kept[]> {
  const kept: Kept[] = [];
  const recordings: RecordingQueries = {
    keep: (...call) => Promise.resolve(void kept.push(call)),
    find: () => Promise.reject(new Error('unexpected request')),
    list: () => Promise.reject(new Error('unexpected request')),
    // oxlint-disable-next-line require-yield -- nobody reads here
    read: async function* () {
      await Promise.reject(new Error('unexpected request'));
    },
  };
  const deps = { service: peer.service, store: { recordings } };
  await saveRecordings(deps, loginTarget(more), 'b/1', new AbortController().signal);
  return kept;
}

describe('the recorder of a login', () => {
  it('is started in the session, stopped, and its video saved', async () => {
    const id = await record();
    expect(id).toMatch(/^rep_\w{25}$/);
    expect(peer.requests).toEqual([
      'GET fs/list_files',
      'POST process/spawn',
      'GET fs/list_files',
      'PUT fs/write_file',
    ]);
    peer.requests.length = 0;

    const kept = await keep();
    expect(peer.signals).toEqual(['INT']);
    expect(peer.requests.filter((line) => /kill|list_files|zip/.test(line))).toEqual([
      'GET fs/list_files',
      'POST process/kill',
      'GET fs/download_dir_zip',
    ]);
    expect(kept).toHaveLength(1);
    const [scope, recording] = kept[0] ?? [];
    expect(scope).toEqual({ organizationId: 'o', projectId: 'p' });
    expect(recording).toMatchObject({ id, connectionId: 'c', sessionId: 'b/1' });
    expect(recording?.video.toString()).toBe(VIDEO);
    expect(recording?.startedAt.getTime()).toBeLessThanOrEqual(recording?.finishedAt.getTime() ?? 0);
  });

  it.each([{ recordSession: false }, {}])('is not started without the setting', async (more) => {
    expect(await record({ replays: REPLAYS }, more)).toBeNull();
    expect(told).toBeNull();
    expect(await keep(more)).toEqual([]);
    expect(peer.requests).toEqual([]);
  });

  it('continues if an earlier attempt started it, and its video is saved although its process is unknown', async () => {
    const id = await record();
    peer.files.delete(`${FOLDER}/${String(id)}.json`);
    const again = await recordSession(peer.service, loginTarget(RECORDED), 'b/1', 60, new AbortController().signal);
    expect(again).toEqual({ replayId: id, replayError: null });
    const [[, recording] = []] = await keep();
    expect(recording).toMatchObject({ id, startedAt: recording?.finishedAt });
    expect(peer.signals).toEqual([]);
  });

  it.each([404, 422, 500])('may have exited by itself without the service knowing (%d)', async (endedStatus) => {
    const id = await record({ endedStatus });
    const { process_id: processId } = JSON.parse(String(peer.files.get(`${FOLDER}/${String(id)}.json`))) as Record<
      string,
      string
    >;
    expect(processId).toBe('proc/7');
    await keep();
    const [[, recording] = []] = await keep();
    expect(recording?.video.toString()).toBe(VIDEO);
  });

  it('ignores files of other programs', async () => {
    const id = await record();
    peer.files.set(`${FOLDER}/../../etc/passwd.mp4`, Buffer.from('x'));
    peer.files.set(`${FOLDER}/notes.mp4`, Buffer.from('x'));
    expect((await keep()).map(([, recording]) => recording.id)).toEqual([id]);
  });

  it.each([Buffer.from('no archive'), Buffer.alloc(0)])(
    'fails no login when its video cannot be fetched',
    async (archive) => {
      await record({ archive });
      expect(await keep()).toEqual([]);
    },
  );
});

describe('if no recorder runs in the session', () => {
  it.each<[string, PeerBehavior]>([
    ['processes are refused', { spawn: 403 }],
    ['there are none', { spawn: 404 }],
    ['there is no room', { spawn: 529 }],
    ['it ends at once', { exitsAtOnce: true }],
  ])('starts a replay of the service: %s', async (_, behavior) => {
    expect(await record({ ...behavior, replays: REPLAYS })).toBe('rep_new');
    expect(peer.requests.slice(-2)).toEqual(['GET replays', 'POST replays']);
    expect(await keep()).toEqual([]);
  });

  it('reuses a replay that an earlier attempt started', async () => {
    const earlier = [
      { replay_id: 'rep_over', finished_at: '2026-01-01T00:00:00Z' },
      { replay_id: 'rep_runs', finished_at: null },
    ];
    const replays: PeerBehavior['replays'] = { GET: [200, earlier], POST: [422, { code: 'operation_failed' }] };
    expect(await record({ spawn: 403, replays })).toBe('rep_runs');
    expect(peer.requests.at(-1)).toBe('GET replays');
  });

  it.each<[string, PeerBehavior['replays']]>([
    ['has no replays', { GET: [404, ''], POST: [404, ''] }],
    ['does not record', { GET: [200, []], POST: [501, { code: 'not_implemented' }] }],
    ['has no recorder', { GET: [200, []], POST: [422, { code: 'operation_failed' }] }],
    ['fails', { GET: [200, []], POST: [500, 'oops'] }],
    ['answers nothing', { GET: [200, []], POST: [200, ''] }],
    ['answers nonsense', { GET: [200, { replays: [] }], POST: [201, { replay_id: 'rep_new' }] }],
  ])('does not fail the login if the service %s', async (_, replays) => {
    expect(await record({ spawn: 500, ...(replays === undefined ? {} : { replays }) })).toBeNull();
    expect(told).toMatch(/^Not recorded: the browser service runs no programs in its sessions/);
  });

  it('distinguishes a recorder that does not start from refused processes', async () => {
    expect(await record({ exitsAtOnce: true })).toBeNull();
    expect(told).toMatch(/^Not recorded: the recorder does not start in sessions .* install ffmpeg and Xvfb/);
  });

  it('stops when the activity is canceled', async () => {
    await expect(record({ replays: REPLAYS }, undefined, AbortSignal.abort())).rejects.toThrow();
  });
});
