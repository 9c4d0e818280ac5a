import { Readable } from 'node:stream';
import multipart from '@fastify/multipart';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance } from 'fastify';
import { HoldfastError } from '../../contract/errors.ts';
import { WriteFileQuery } from '../../contract/files.ts';
import type { BrowserDeps } from '../deps.ts';
import { unzipInto } from '../files/unzip.ts';
import { MAX_UPLOAD_BYTES, receiveFile } from '../files/write-file.ts';
import type { UploadForm } from '../http/upload-form.ts';
import { filesWithPaths, pathField, withUploadForm } from '../http/upload-form.ts';
import { givableBody } from '../../http/bodies.ts';
import { withSession } from '../http/with-session.ts';
import { octal } from './files-write.ts';
import { SessionParams } from './params.ts';

/** Most files of one upload: each has a field that says where it belongs. */
const MAX_FILES = 1000;
const FORM_LIMITS = {
  fileSize: MAX_UPLOAD_BYTES,
  files: MAX_FILES,
  fields: MAX_FILES,
  fieldSize: 8192,
  parts: 2 * MAX_FILES,
};

/** `…/fs/write_file`, `upload` and `upload_zip`: contents, which are never held in memory. */
export function fileUploadRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  // Parsers of their own: these bodies are streams, whatever their size and type.
  void app.register((raw, _, done) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('*', (_request, body, parsed) => {
      parsed(null, body);
    });
    writeFileRoute(raw, deps);
    done();
  });
  void app.register(async (forms) => {
    forms.removeAllContentTypeParsers();
    await forms.register(multipart, { limits: FORM_LIMITS });
    uploadRoute(forms, deps);
    uploadZipRoute(forms, deps);
  });
}

function writeFileRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .put(
      '/browsers/:id/fs/write_file',
      { schema: { params: SessionParams, querystring: WriteFileQuery } },
      async (request, reply) => {
        const { path, mode } = request.query;
        await withSession(deps, request, request.params.id, async ({ space }) => {
          const content = request.body instanceof Readable ? givableBody(request.body) : Readable.from([]);
          const file = await receiveFile(space.files, content);
          try {
            await file.put(path, octal(mode));
          } finally {
            await file.discard();
          }
        });
        return reply.code(200).send();
      },
    );
}

function uploadRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .post('/browsers/:id/fs/upload', { schema: { params: SessionParams } }, async (request, reply) => {
      await withSession(deps, request, request.params.id, ({ space }) =>
        withUploadForm(request, space.files, async (form) => {
          for (const { file, path } of filesWithPaths(form)) await file.put(path);
        }),
      );
      return reply.code(200).send();
    });
}

function uploadZipRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .post('/browsers/:id/fs/upload_zip', { schema: { params: SessionParams } }, async (request, reply) => {
      await withSession(deps, request, request.params.id, ({ space }) =>
        withUploadForm(request, space.files, (form) => {
          const { archive, path } = archiveOf(form);
          return unzipInto(space.files, archive, path);
        }),
      );
      return reply.code(200).send();
    });
}

function archiveOf({ files, fields }: UploadForm) {
  const archive = files.find(({ name }) => name === 'zip_file')?.file;
  if (archive === undefined) throw new HoldfastError('invalid_input', 'zip_file: required');
  const path = pathField('dest_path', fields.find(({ name }) => name === 'dest_path')?.value);
  return { archive, path };
}
