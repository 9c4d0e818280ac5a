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

/** Largest state that is taken, in bytes. */
const MAX_STATE_BYTES = 64 * 1024 * 1024;
const TYPES: Record<StateFormat, string> = {
  'tar.zst': 'application/zstd',
  tar: 'application/x-tar',
  storage_state: 'application/json',
};
const tags = ['profiles'];

/**
 * The state of a profile itself, which logs in whoever has it: for keys of the whole organization alone, and each reading and
 * writing has its audit row.
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
          .describe('`storage_state`: as Playwright has it, cookies and local storage alone'),
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

/** `POST /profiles/{id or name}/upload`: replaces the state by what was downloaded, or by Playwright's `storageState`. */
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
      // Its handler reads the body.
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

/** The profile that is meant, for a key that may have its state. */
function allowedProfile(request: FastifyRequest, store: ApiParts['store'], idOrName: string) {
  const refusal = 'Only a key of the whole organization may read or replace a profile’s state';
  const caller = organizationWideCallerOf(request, refusal);
  return findProfile(store, caller, idOrName);
}
