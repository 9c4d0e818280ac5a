import multipart from '@fastify/multipart';
import { z } from 'zod';
import { HoldfastError } from '../../contract/errors.ts';
import { Extension, MAX_EXTENSION_BYTES } from '../../contract/extensions.ts';
import type { ExtensionRecord } from '../../store/queries/extensions.ts';
import { BinaryContent, IdOrNameParams, NoContent, errorResponses } from '../response-schemas.ts';
import { principalCallerOf, type PrincipalCaller } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import { requireFound } from '../nullish.ts';
import { parseExtensionForm } from './extension-archive.ts';
import { pageOf, pageQuery, sendPageHeaders, queryFilter } from '../paging.ts';
import type { ApiParts } from '../parts.ts';
import { findInDefaultProject, writeScope } from '../scope.ts';

const tags = ['extensions'];
const NOT_FOUND = 'Extension not found; check its id or name, and the project';
const Query = z.object({
  name: z.string().max(255).optional().describe('The whole name'),
  query: queryFilter(260).describe('Part of the name, in any case, or the whole id'),
  ...pageQuery,
});

/** Registers browser extensions for sessions (`extensions` of `POST /browsers`). */
export function registerExtensions(app: ApiServer, parts: ApiParts): void {
  uploadExtension(app, parts);
  listExtensions(app, parts);
  retrieveExtension(app, parts);
  downloadExtension(app, parts);
  fetchFromChromeStore(app);
  deleteExtension(app, parts);
}

/** `POST /extensions`: a form with `file` (a ZIP archive or a `.crx`) and an optional `name`, unique within its project. */
function uploadExtension(app: ApiServer, { store }: ApiParts): void {
  void app.register(async (forms: ApiServer) => {
    await forms.register(multipart, {
      limits: { fileSize: MAX_EXTENSION_BYTES, files: 1, fields: 1, fieldSize: 1024 },
    });
    forms.route({
      method: 'POST',
      url: '/extensions',
      schema: {
        operationId: 'uploadExtension',
        tags,
        consumes: ['multipart/form-data'],
        body: z.object({ file: BinaryContent, name: z.string().optional() }),
        response: { 201: Extension, ...errorResponses(409) },
      },
      // The schema is for the OpenAPI document only: the handler parses the form.
      validatorCompiler: () => (value: unknown) => ({ value }),
      handler: async (request, reply) => {
        const upload = await parseExtensionForm(request);
        const scope = await writeScope(store, principalCallerOf(request).scope);
        return reply.code(201).send(presentExtension(await store.extensions.create(scope, upload)));
      },
    });
  });
}

/** `GET /extensions`: newest first, a bare array with paging headers. */
function listExtensions(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/extensions',
    schema: { operationId: 'listExtensions', tags, querystring: Query, response: { 200: z.array(Extension) } },
    handler: async (request, reply) => {
      const { name, query } = request.query;
      const paging = pageOf(request.query);
      const filter = omitUndefined({ name, query });
      const page = await store.extensions.list(principalCallerOf(request).scope, { ...paging, ...filter });
      return sendPageHeaders(reply, paging, page).map(presentExtension);
    },
  });
}

/** `GET /extensions/{id or name}/metadata`. */
function retrieveExtension(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/extensions/:id_or_name/metadata',
    schema: { operationId: 'retrieveExtension', tags, params: IdOrNameParams, response: { 200: Extension } },
    handler: async (request) =>
      presentExtension(await find(store, principalCallerOf(request), request.params.id_or_name)),
  });
}

/** `GET /extensions/{id or name}`: the ZIP archive, without the signed header of a `.crx`. */
function downloadExtension(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/extensions/:id_or_name',
    schema: {
      operationId: 'downloadExtension',
      tags,
      params: IdOrNameParams,
      produces: ['application/zip'],
      response: { 200: BinaryContent },
    },
    handler: async (request, reply) => {
      const caller = principalCallerOf(request);
      const { id } = await find(store, caller, request.params.id_or_name);
      const archive = requireFound(await store.extensions.archive(caller.scope, id), NOT_FOUND);
      return reply
        .type('application/zip')
        .header('content-disposition', `attachment; filename="${id}.zip"`)
        .send(archive);
    },
  });
}

/** `GET /extensions/from_chrome_store`: always 404, with what to do instead. */
function fetchFromChromeStore(app: ApiServer): void {
  app.route({
    method: 'GET',
    url: '/extensions/from_chrome_store',
    schema: { operationId: 'downloadExtensionFromChromeStore', tags, response: {} },
    handler: () => {
      throw new HoldfastError(
        'not_found',
        'This installation does not fetch from the Chrome Web Store; upload the extension as ZIP or .crx with POST /extensions',
      );
    },
  });
}

/** `DELETE /extensions/{id or name}`: running sessions keep it. */
function deleteExtension(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/extensions/:id_or_name',
    schema: { operationId: 'deleteExtension', tags, params: IdOrNameParams, response: { 204: NoContent } },
    handler: async (request, reply) => {
      const caller = principalCallerOf(request);
      const { id } = await find(store, caller, request.params.id_or_name);
      requireFound(await store.extensions.remove(caller.scope, id), NOT_FOUND);
      return reply.code(204).send();
    },
  });
}

async function find(store: ApiParts['store'], { scope }: PrincipalCaller, idOrName: string): Promise<ExtensionRecord> {
  const record = await findInDefaultProject(store, scope, (within) => store.extensions.find(within, idOrName));
  return requireFound(record, NOT_FOUND);
}

function presentExtension(record: ExtensionRecord): Extension {
  return {
    id: record.id,
    name: record.name,
    size_bytes: record.sizeBytes,
    checksum: record.checksum,
    created_at: record.createdAt.toISOString(),
    last_used_at: record.lastUsedAt?.toISOString() ?? null,
  };
}
