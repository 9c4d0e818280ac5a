import type { FastifyInstance } from 'fastify';

/** Headers of every response: not cacheable, no content sniffing. */
export const ANSWER_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** Adds {@link ANSWER_HEADERS} to every response; routes may override them. */
export function sendAnswerHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    void reply.headers(ANSWER_HEADERS);
    done();
  });
}

/** The number in a `Last-Event-ID` header, or null if it is missing or not one of ours. */
export function lastEventIdOf(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : null;
}
