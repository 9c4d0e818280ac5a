import type { FastifyInstance } from 'fastify';

/** Bodies are JSON; an empty one counts as absent, because clients send a content type with nothing behind it. */
export function acceptEmptyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') {
      done(null, undefined);
      return;
    }
    void parse(request, body as string, done);
  });
}
