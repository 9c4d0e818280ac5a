import { Readable } from 'node:stream';
import multipart from '@fastify/multipart';
import type { FastifyInstance } from 'fastify';
import { BROWSER_ROUTES } from '../../contract/browser-routes.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { MAX_EXTENSION_BYTES } from '../../contract/extensions.ts';
import { abandonableBody } from '../../http/bodies.ts';
import { CdpError } from '../cdp/connection.ts';
import { toHoldfastError } from '../computer/errors.ts';
import type { BrowserDeps } from '../deps.ts';
import { loadExtensions } from '../extensions/load-extensions.ts';
import { toFileError, withFieldName } from '../files/file-errors.ts';
import { unzipInto } from '../files/unzip.ts';
import { MAX_UPLOAD_BYTES, receiveFile } from '../files/write-file.ts';
import { createRouter } from '../http/router.ts';
import type { UploadForm } from '../http/upload-form.ts';
import { filesWithPaths, pairsOf, pathField, withUploadForm } from '../http/upload-form.ts';
import { octal } from './files.ts';

/** Most files per upload. Each has a field with its path. */
const MAX_FILES = 1000;
const FILES = {
  fileSize: MAX_UPLOAD_BYTES,
  files: MAX_FILES,
  fields: MAX_FILES,
  fieldSize: 8192,
  parts: 2 * MAX_FILES,
};
const EXTENSIONS = { fileSize: MAX_EXTENSION_BYTES, files: 10, fields: 20, fieldSize: 1024, parts: 30 };
/** A plain folder name; browsers reserve names with a leading underscore. */
const EXTENSION_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** `…/fs/write_file`, `upload`, `upload_zip` and `extensions`: content is streamed, never held in memory. */
export function uploadRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  // Own parsers: these bodies are streams, whatever their size and type.
  void app.register((raw, _, done) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('*', (_request, body, parsed) => {
      parsed(null, body);
    });
    createRouter(raw, deps).inSession(BROWSER_ROUTES.writeFile, async ({ workspace }, { query, request }) => {
      const content = request.body instanceof Readable ? abandonableBody(request.body) : Readable.from([]);
      const file = await receiveFile(workspace.files, content);
      try {
        await file.put(query.path, octal(query.mode));
      } finally {
        await file.discard();
      }
    });
    done();
  });
  void app.register(async (forms) => {
    forms.removeAllContentTypeParsers();
    await forms.register(multipart, { limits: FILES });
    const { inSession } = createRouter(forms, deps);
    inSession(BROWSER_ROUTES.upload, ({ workspace }, { request }) =>
      withUploadForm(request, workspace.files, async (form) => {
        for (const { file, field, path } of filesWithPaths(form)) await withFieldName(field, () => file.put(path));
      }),
    );
    inSession(BROWSER_ROUTES.uploadZip, ({ workspace }, { request }) =>
      withUploadForm(request, workspace.files, (form) => {
        const { archive, path } = archiveOf(form);
        return unzipInto(workspace.files, archive, path);
      }),
    );
  });
  void app.register(async (forms) => {
    forms.removeAllContentTypeParsers();
    await forms.register(multipart, { limits: EXTENSIONS });
    createRouter(forms, deps).inSession(BROWSER_ROUTES.uploadExtensions, (session, { request }) =>
      withUploadForm(request, session.workspace.files, async (form) => {
        const sent = extensionsOf(form);
        await session
          .exclusively(() => loadExtensions(session, sent))
          .catch((error: unknown) => {
            throw error instanceof CdpError ? toHoldfastError(error) : toFileError(error);
          });
      }),
    );
  });
}

function archiveOf({ files, fields }: UploadForm) {
  const archive = files.find(({ name }) => name === 'zip_file')?.file;
  if (archive === undefined) throw new HoldfastError('invalid_input', 'zip_file: required');
  const path = pathField('dest_path', fields.find(({ name }) => name === 'dest_path')?.value);
  return { archive, path };
}

function extensionsOf(form: UploadForm) {
  return pairsOf(form, 'zip_file', 'name').map(({ file, field, text }) => {
    if (text !== undefined && EXTENSION_NAME.test(text)) return { name: text, archive: file };
    throw new HoldfastError('invalid_input', `${field}: must be a name of letters, digits, dots and dashes`);
  });
}
