import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import type { BrowserService } from '../../browser-client/service.ts';
import { createBrowserService } from '../../browser-client/service.ts';

/** How a browser service treats a recorder. */
export interface PeerManners {
  /** What `process/spawn` answers; 200 by default. */
  spawn?: number;
  /** A recorder that ends at once, as one does that finds no display. */
  endsAtOnce?: boolean;
  /** A recorder that does not react to INT. */
  ignoresInt?: boolean;
  /** What is answered about a process that has ended. */
  forgotten?: number;
  /** Replays of its own: what listing and starting answer; 404 by default. */
  replays?: Record<'GET' | 'POST', [status: number, body: unknown]>;
  /** What `download_dir_zip` answers in place of an archive. */
  archive?: Buffer;
}

/** A browser service with one session, which runs a recorder and keeps its files. */
export interface RecordingPeer {
  service: BrowserService;
  /** `METHOD operation`, oldest first; repeated looks at the same thing count once. */
  asked: string[];
  /** Signals that were sent. */
  signals: string[];
  /** Files of the session, by path. */
  files: Map<string, Buffer>;
  stop(): Promise<void>;
}

/** What the recorder writes, and what it adds when it is asked to finish. */
export const VIDEO = 'a video, and its end';

/** Starts one. It speaks as loosely as some do: an empty list is `null`, an ended process may be unknown. */
export async function startRecordingPeer(manners: PeerManners = {}): Promise<RecordingPeer> {
  const files = new Map<string, Buffer>();
  const asked: string[] = [];
  const signals: string[] = [];
  let video: string | null = null;

  const answers: Record<
    string,
    (body: { args?: string[]; signal?: string }, path: string, raw: Buffer) => [number, unknown?]
  > = {
    'POST process/spawn': ({ args = [] }) => {
      if (manners.spawn !== undefined) return [manners.spawn, 'refused'];
      if (manners.endsAtOnce !== true) files.set((video = String(args[2])), Buffer.from('a video'));
      return [200, { pid: 7, process_id: 'proc/7', started_at: 'now' }];
    },
    'GET process/status': () => (video === null ? [manners.forgotten ?? 404] : [200, { state: 'running' }]),
    'POST process/kill': ({ signal = 'none' }) => {
      signals.push(signal);
      if (video === null) return [manners.forgotten ?? 404];
      if (manners.ignoresInt === true) return [200];
      files.set(video, Buffer.from(VIDEO));
      video = null;
      return [200];
    },
    'GET fs/list_files': () => {
      const list = [...files].map(([path, content]) => ({
        ...{
          name: path.split('/').at(-1),
          path,
          is_dir: false,
          size_bytes: content.length,
          mode: '-rw',
          mod_time: '?',
        },
      }));
      return [200, list.length === 0 ? null : list];
    },
    'GET fs/read_file': (_, path) => (files.has(path) ? [200, files.get(path)] : [404]),
    'PUT fs/write_file': (_, path, raw) => {
      files.set(path, raw);
      return [201];
    },
    'GET replays': () => manners.replays?.GET ?? [404, ''],
    'POST replays': () => manners.replays?.POST ?? [404, ''],
    'GET ': () => [200, { session_id: 'b/1', cdp_ws_url: 'ws://x/' }],
  };

  const server = createServer((request, response) => {
    void buffer(request).then(async (raw) => {
      const url = new URL(request.url ?? '', 'http://x');
      const operation = url.pathname.replace(/^\/browsers\/[^/]+\/?/, '').replace('process/proc%2F7', 'process');
      const line = `${request.method ?? ''} ${operation}`;
      if (asked.at(-1) !== line) asked.push(line);
      const isJson = request.headers['content-type'] === 'application/json';
      const body = isJson ? (JSON.parse(raw.toString()) as { args?: string[]; signal?: string }) : {};
      const [status, answer] =
        line === 'GET fs/download_dir_zip'
          ? [200, manners.archive ?? (await archiveOf(files))]
          : (answers[line]?.(body, url.searchParams.get('path') ?? '', raw) ?? [404]);
      response.statusCode = status;
      response.end(Buffer.isBuffer(answer) || typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const service = createBrowserService({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: 'key',
  });
  return {
    service,
    asked,
    signals,
    files,
    stop: async () => {
      await service.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

async function archiveOf(files: Map<string, Buffer>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, content] of files) zip.addBuffer(content, path.split('/').at(-1) ?? '');
  zip.end();
  return buffer(zip.outputStream);
}
