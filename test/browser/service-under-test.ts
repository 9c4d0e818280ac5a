import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import Kernel from '@onkernel/sdk';
import { expect, inject } from 'vitest';
import type { Logger } from '../../browser/logger.ts';
import type { BrowserServiceHandle, BrowserServiceOptions } from '../../browser/service.ts';
import { startBrowserService } from '../../browser/service.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import type { MemoryProfiles } from './memory-profiles.ts';
import { memoryPools } from './memory-pools.ts';
import { API_KEY, memoryProfiles } from './memory-profiles.ts';

export { API_KEY };

/** A running service, with a public client for it. */
export interface ServiceUnderTest {
  handle: BrowserServiceHandle;
  kernel: Kernel;
  profiles: MemoryProfiles;
  workDir: string;
  /** Archives of the stored extensions, by id. */
  extensions: Map<string, Buffer>;
  /** Log lines, as JSON. */
  logs: string[];
  stop(): Promise<void>;
}

export async function startService(options: Partial<BrowserServiceOptions> = {}): Promise<ServiceUnderTest> {
  const workDir = options.workDir ?? (await mkdtemp(path.join(os.tmpdir(), 'holdfast-browser-')));
  const profiles = memoryProfiles();
  const extensions = new Map<string, Buffer>();
  const logs: string[] = [];
  const log = (fields: Record<string, unknown>, message: string): void =>
    void logs.push(JSON.stringify({ ...fields, message }));
  const logger: Logger = { info: log, warn: log, error: log };
  const handle = await startBrowserService({
    port: 0,
    apiKey: API_KEY,
    chromiumPath: inject('chromiumPath'),
    workDir,
    maxSessions: 6,
    warmBrowsers: 0,
    // Most tests need no display.
    windows: 'on-request',
    policy: createEgressPolicy('localhost,127.0.0.1'),
    profiles,
    proxies: { open: async () => ({ outcome: 'none' }) },
    extensions: {
      use: async (_project, ref) => {
        const id = 'id' in ref ? ref.id : ref.name;
        const archive = extensions.get(id);
        return archive === undefined ? null : { id, archive };
      },
    },
    pools: memoryPools(),
    logger,
    ...options,
  });
  return {
    handle,
    kernel: new Kernel({ apiKey: API_KEY, baseURL: handle.url, maxRetries: 0 }),
    profiles,
    workDir,
    extensions,
    logs,
    stop: async () => {
      await handle.close();
      await rm(workDir, { recursive: true, force: true });
    },
  };
}

/** A small site: a body or a handler by path. */
export type Pages = Record<string, string | ((request: http.IncomingMessage, response: http.ServerResponse) => void)>;

export interface Site {
  /** `http://localhost:port`. */
  origin: string;
  port: number;
  /** Requested paths. */
  requests: string[];
  close(): void;
}

export async function startSite(pages: Pages): Promise<Site> {
  const requests: string[] = [];
  const server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    requests.push(pathname);
    const page = pages[pathname];
    if (typeof page === 'function') {
      page(request, response);
      return;
    }
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(page ?? 'nothing here');
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://localhost:${String(port)}`,
    port,
    requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Waits until a check passes; fails after a minute, which allows for a busy machine. */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = 180_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

/** A typed `expect.stringContaining`, for `toMatchObject`. */
export function containing(part: string): string {
  const matcher: unknown = expect.stringContaining(part);
  return matcher as string;
}
