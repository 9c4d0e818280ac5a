import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserService } from '../../browser-client/service.ts';
import { createBrowserService } from '../../browser-client/service.ts';

/** One answer of a peer. `cut`: the connection breaks after the body. */
export interface LooseAnswer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  cut?: boolean;
  /** Milliseconds before it answers. */
  delay?: number;
}

/** A browser service that answers as loosely as other builds of the interface do. */
export interface LoosePeer {
  service: BrowserService;
  /** What it was asked, oldest first: method and path with query. */
  asked: string[];
  /** Bodies of what it was asked. */
  bodies: string[];
  stop(): Promise<void>;
}

/**
 * Answers by `METHOD path` without the session's part and the query; anything else is 404 without a body. Of several answers
 * each is given once, the last for good.
 */
export async function startLoosePeer(answers: Record<string, LooseAnswer | LooseAnswer[]>): Promise<LoosePeer> {
  const asked: string[] = [];
  const bodies: string[] = [];
  const server = http.createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      asked.push(`${request.method ?? ''} ${request.url ?? ''}`);
      bodies.push(Buffer.concat(pieces).toString());
      const place = (request.url ?? '').split('?')[0]?.replace(/^\/browsers\/[^/]+\/?/, '') ?? '';
      const given = [answers[`${request.method ?? ''} ${place}`] ?? { status: 404 }].flat();
      const before = asked.filter((line) => line === asked.at(-1)).length - 1;
      const answer = given[Math.min(before, given.length - 1)] ?? { status: 404 };
      setTimeout(() => {
        response.writeHead(answer.status ?? 200, answer.headers);
        if (answer.cut === true) response.write(answer.body ?? '', () => response.destroy());
        else response.end(answer.body);
      }, answer.delay ?? 0);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
  const service = createBrowserService({ baseUrl, apiKey: 'key-of-the-peer' });
  return {
    service,
    asked,
    bodies,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await service.close();
    },
  };
}
