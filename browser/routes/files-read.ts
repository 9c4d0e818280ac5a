import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { FileInfo, FilePathQuery } from '../../contract/files.ts';
import type { BrowserDeps } from '../deps.ts';
import { infoOf, listFolder, openFile } from '../files/read.ts';
import { zipFolder } from '../files/zip-folder.ts';
import { sendStream, withSession } from '../http/with-session.ts';
import { SessionParams } from './params.ts';

/** `GET /browsers/{id}/fs/…`: what reads the files of a session. */
export function fileReadRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const query = { params: SessionParams, querystring: FilePathQuery };

  typed.get('/browsers/:id/fs/list_files', { schema: { ...query, response: { 200: z.array(FileInfo) } } }, (request) =>
    withSession(deps, request, request.params.id, ({ space }) => listFolder(space.files, request.query.path)),
  );
  typed.get('/browsers/:id/fs/file_info', { schema: { ...query, response: { 200: FileInfo } } }, (request) =>
    withSession(deps, request, request.params.id, ({ space }) => infoOf(space.files, request.query.path)),
  );
  typed.get('/browsers/:id/fs/read_file', { schema: query }, (request, reply) =>
    withSession(deps, request, request.params.id, async (session) => {
      const file = await openFile(session.space.files, request.query.path);
      return sendStream(reply.type('application/octet-stream'), session, file.createReadStream());
    }),
  );
  typed.get('/browsers/:id/fs/download_dir_zip', { schema: query }, (request, reply) =>
    withSession(deps, request, request.params.id, async (session) => {
      const archive = await zipFolder(session.space.files, request.query.path);
      return sendStream(reply.type('application/zip'), session, archive);
    }),
  );
}
