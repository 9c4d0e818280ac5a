import type { CdpConnection } from '../cdp/connection.ts';

/** Longest wait for what comes beside an answer, in milliseconds: it is told apart from it, before or after. */
const WAIT_MS = 500;

/** The `Set-Cookie` headers of answers to one page, which the browser keeps out of what it tells of an answer itself. */
export interface SetCookies {
  /** Those of the latest answer, which had this status; empty when nothing is told of it. */
  of(status: number): Promise<string[]>;
  stop(): void;
}

export function watchSetCookies(cdp: CdpConnection, page: string): SetCookies {
  let latest: { status: number; cookies: string[] } | null = null;
  let wake: () => void = () => undefined;
  const stop = cdp.on('Network.responseReceivedExtraInfo', ({ statusCode, headers }, from) => {
    if (from !== page) return;
    const entry = Object.entries(headers).find(([name]) => name.toLowerCase() === 'set-cookie');
    latest = { status: statusCode, cookies: entry === undefined ? [] : entry[1].split('\n') };
    wake();
  });
  return {
    stop,
    of: async (status) => {
      if (latest?.status !== status) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, WAIT_MS);
          wake = () => {
            if (latest?.status !== status) return;
            clearTimeout(timer);
            resolve();
          };
        });
      }
      return latest?.status === status ? latest.cookies : [];
    },
  };
}
