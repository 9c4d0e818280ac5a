import type { FastifyInstance } from 'fastify';

/** Headers of every answer: it is not kept by anyone on the way, and is what its content type says. */
export const ANSWER_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** Gives every answer the {@link ANSWER_HEADERS}; a route may set others of the same names. */
export function sendAnswerHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    void reply.headers(ANSWER_HEADERS);
    done();
  });
}

/** The revision or number in a `Last-Event-ID` header; null when there is none that can be one of ours. */
export function lastEventIdOf(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : null;
}
