import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import type { BrowserService } from '../../browser-client/service.ts';
import { createBrowserService } from '../../browser-client/service.ts';

/** How the stand-in behaves. */
export interface PeerBehavior {
  /** Status of `process/spawn`; 200 by default. */
  spawn?: number;
  /** The recorder exits at once, as it does without a display. */
  exitsAtOnce?: boolean;
  /** The recorder ignores SIGINT. */
  ignoresInt?: boolean;
  /** Status of requests for a process that has ended; 404 by default. */
  endedStatus?: number;
  /** Responses to listing and starting replays; 404 by default. */
  replays?: Record<'GET' | 'POST', [status: number, body: unknown]>;
  /** Body of `download_dir_zip`, instead of an archive. */
  archive?: Buffer;
}

/** A stand-in for a browser service with one session that runs a recorder. */
export interface RecordingPeer {
  service: BrowserService;
  /** `METHOD operation`, oldest first, without consecutive repetitions. */
  requests: string[];
  /** Signals sent to the recorder. */
  signals: string[];
  /** Files of the session, by path. */
  files: Map<string, Buffer>;
  stop(): Promise<void>;
}

/** The recorder's complete file. */
export const VIDEO = 'a video, and its end';

/** Starts it. Like some services, it returns `null` for an empty list, and may not know an ended process. */
export async function startRecordingPeer(behavior: PeerBehavior = {}): Promise<RecordingPeer> {
  const files = new Map<string, Buffer>();
  const requests: string[] = [];
  const signals: string[] = [];
  let video: string | null = null;

  const handlers: Record<
    string,
    (body: { args?: string[]; signal?: string }, path: string, raw: Buffer) => [number, unknown?]
  > = {
    'POST process/spawn': ({ args = [] }) => {
      if (behavior.spawn !== undefined) return [behavior.spawn, 'refused'];
      if (behavior.exitsAtOnce !== true) files.set((video = String(args[2])), Buffer.from('a video'));
      return [200, { pid: 7, process_id: 'proc/7', started_at: 'now' }];
    },
    'GET process/status': () => (video === null ? [behavior.endedStatus ?? 404] : [200, { state: 'running' }]),
    'POST process/kill': ({ signal = 'none' }) => {
      signals.push(signal);
      if (video === null) return [behavior.endedStatus ?? 404];
      if (behavior.ignoresInt === true) return [200];
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
    'GET replays': () => behavior.replays?.GET ?? [404, ''],
    'POST replays': () => behavior.replays?.POST ?? [404, ''],
    'GET ': () => [200, { session_id: 'b/1', cdp_ws_url: 'ws://x/' }],
  };

  const server = createServer((request, response) => {
    void buffer(request).then(async (raw) => {
      const url = new URL(request.url ?? '', 'http://x');
      const operation = url.pathname.replace(/^\/browsers\/[^/]+\/?/, '').replace('process/proc%2F7', 'process');
      const line = `${request.method ?? ''} ${operation}`;
      if (requests.at(-1) !== line) requests.push(line);
      const isJson = request.headers['content-type'] === 'application/json';
      const body = isJson ? (JSON.parse(raw.toString()) as { args?: string[]; signal?: string }) : {};
      const [status, result] =
        line === 'GET fs/download_dir_zip'
          ? [200, behavior.archive ?? (await archiveOf(files))]
          : (handlers[line]?.(body, url.searchParams.get('path') ?? '', raw) ?? [404]);
      response.statusCode = status;
      response.end(Buffer.isBuffer(result) || typeof result === 'string' ? result : JSON.stringify(result));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const service = createBrowserService({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: 'key',
  });
  return {
    service,
    requests,
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
