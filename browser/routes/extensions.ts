import multipart from '@fastify/multipart';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance } from 'fastify';
import { HoldfastError } from '../../contract/errors.ts';
import type { BrowserDeps } from '../deps.ts';
import { CdpError } from '../cdp/connection.ts';
import { toHoldfastError } from '../computer/errors.ts';
import { loadExtensions } from '../extensions/load.ts';
import { fileFault } from '../files/faults.ts';
import { pairsOf, withUploadForm } from '../http/upload-form.ts';
import { withSession } from '../http/with-session.ts';
import { SessionParams } from './params.ts';

/** Largest archive of an extension, in bytes. */
const MAX_ARCHIVE_BYTES = 64 * 1024 * 1024;
const FORM_LIMITS = { fileSize: MAX_ARCHIVE_BYTES, files: 10, fields: 20, fieldSize: 1024, parts: 30 };
/** A plain name of a folder; browsers keep names that begin with an underscore for themselves. */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** `POST /browsers/{id}/extensions`: unpacked extensions, as archives, for the running browser of a session. */
export function extensionsRoute(app: FastifyInstance, deps: BrowserDeps): void {
  void app.register(async (forms) => {
    forms.removeAllContentTypeParsers();
    await forms.register(multipart, { limits: FORM_LIMITS });
    forms
      .withTypeProvider<ZodTypeProvider>()
      .post('/browsers/:id/extensions', { schema: { params: SessionParams } }, async (request, reply) => {
        await withSession(deps, request, request.params.id, (session) =>
          withUploadForm(request, session.space.files, async (form) => {
            const sent = pairsOf(form, 'zip_file', 'name').map(({ file, field, text }) => {
              if (text !== undefined && NAME.test(text)) return { name: text, archive: file };
              throw new HoldfastError('invalid_input', `${field}: must be a name of letters, digits, dots and dashes`);
            });
            await session
              .exclusively(() => loadExtensions(session, sent))
              .catch((error: unknown) => {
                throw error instanceof CdpError ? toHoldfastError(error) : fileFault(error);
              });
          }),
        );
        return reply.code(200).send();
      });
  });
}
