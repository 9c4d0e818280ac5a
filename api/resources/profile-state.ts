import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { HoldfastError } from '../../contract/errors.ts';
import { presentProfile, Profile } from '../../contract/profiles.ts';
import { packState, STATE_FORMATS, unpackState, type StateFormat } from '../../store/profile-state/archive.ts';
import { readState } from '../../store/profile-state/state.ts';
import { BinaryContent, IdOrNameParams } from '../response-schemas.ts';
import { organizationWideCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { findProfile } from './profiles.ts';

/** Maximum size of an uploaded state, in bytes. */
const MAX_STATE_BYTES = 64 * 1024 * 1024;
const TYPES: Record<StateFormat, string> = {
  'tar.zst': 'application/zstd',
  tar: 'application/x-tar',
  storage_state: 'application/json',
};
const tags = ['profiles'];

/**
 * Registers download and upload of a profile's state. Whoever has the state is logged in, so only organization-wide keys may
 * access it, and every access is audited.
 */
export function registerProfileState(app: ApiServer, parts: ApiParts): void {
  downloadProfile(app, parts);
  uploadProfile(app, parts);
}

/** `GET /profiles/{id or name}/download`. */
function downloadProfile(app: ApiServer, { store, clock }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/profiles/:id_or_name/download',
    config: { returnsSecret: true, needsConfirmation: true },
    schema: {
      operationId: 'downloadProfile',
      tags,
      params: IdOrNameParams,
      querystring: z.object({
        format: z
          .enum(STATE_FORMATS)
          .default('tar.zst')
          .describe("`storage_state`: Playwright's format, with cookies and local storage only"),
      }),
      produces: Object.values(TYPES),
      response: { 200: BinaryContent },
    },
    handler: async (request, reply) => {
      const { record } = await allowedProfile(request, store, request.params.id_or_name);
      const { format } = request.query;
      const loaded = await store.profiles.load(record.projectId, { id: record.id });
      const extension = format === 'storage_state' ? 'json' : format;
      return reply
        .type(TYPES[format])
        .header('content-disposition', `attachment; filename="${record.id}.${extension}"`)
        .send(await packState(readState(loaded?.state), format, clock()));
    },
  });
}

/** `POST /profiles/{id or name}/upload`: replaces the state with a downloaded one, or with Playwright's `storageState`. */
function uploadProfile(app: ApiServer, { store }: ApiParts): void {
  void app.register((uploads: ApiServer, _options, done) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, { state: body }));
    uploads.route({
      method: 'POST',
      url: '/profiles/:id_or_name/upload',
      bodyLimit: MAX_STATE_BYTES,
      schema: {
        operationId: 'uploadProfile',
        tags,
        params: IdOrNameParams,
        consumes: Object.values(TYPES),
        body: BinaryContent,
        response: { 200: Profile },
      },
      // The handler validates the body.
      validatorCompiler: () => (value: unknown) => ({ value }),
      handler: async (request, reply) => {
        const body: unknown = request.body;
        const bytes = typeof body === 'object' && body !== null && 'state' in body ? body.state : null;
        const { record, project } = await allowedProfile(request, store, request.params.id_or_name);
        if (!Buffer.isBuffer(bytes)) throw new HoldfastError('invalid_request', 'body: send the state');
        const state = await unpackState(bytes);
        await store.profiles.save(record.projectId, record.id, () => state);
        return reply.send(presentProfile((await store.profiles.find(project, record.id)) ?? record));
      },
    });
    done();
  });
}

/** The profile, for an organization-wide key. */
function allowedProfile(request: FastifyRequest, store: ApiParts['store'], idOrName: string) {
  const message = "This key is for one project; read or replace a profile's state with an organization-wide key";
  const caller = organizationWideCallerOf(request, message);
  return findProfile(store, caller, idOrName);
}
