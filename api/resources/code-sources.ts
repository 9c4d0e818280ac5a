import multipart from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { receiveMessage, type Message } from '../../codes/receive.ts';
import { isSignedByMailgun, isSignedByTwilio } from '../../codes/signatures.ts';
import { CodeSource, CodeSourceCreate, type CodeSourceType } from '../../contract/code-sources.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { CodeSourceRecord } from '../../store/queries/code-sources.ts';
import { throwFormError } from '../../http/bodies.ts';
import { IdParams, NoContent, errorResponses } from '../response-schemas.ts';
import { principalCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { requireFound } from '../nullish.ts';
import { pageOf, pageQuery, sendPageHeaders } from '../paging.ts';
import type { ApiParts } from '../parts.ts';
import { writeScope } from '../scope.ts';

const tags = ['code sources'];
const NOT_FOUND = 'Code source not found; check its id';
/** Limits of a form posted by a provider. */
const FORM_LIMITS = { fields: 200, fieldSize: 1024 * 1024, files: 50, fileSize: 20 * 1024 * 1024 };

/** Registers providers that forward text messages and emails, so that logins receive the codes in them. */
export function registerCodeSources(app: ApiServer, parts: ApiParts): void {
  createSource(app, parts);
  listSources(app, parts);
  deleteSource(app, parts);
  void app.register(async (forms) => {
    forms.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
      done(null, Object.fromEntries(new URLSearchParams(body.toString())));
    });
    await forms.register(multipart, {
      attachFieldsToBody: 'keyValues',
      limits: FORM_LIMITS,
      // Attachments are not searched for codes.
      onFile: (part) => Promise.resolve(void part.file.resume()),
    });
    // Errors before the body is parsed are the sender's.
    forms.setErrorHandler((error, request) => {
      if (request.isMultipart() && (request.body === undefined || request.body === null)) throwFormError(error);
      throw error;
    });
    receive(forms.withTypeProvider<ZodTypeProvider>(), parts);
  });
}

/** `POST /code_sources`: the provider posts messages to the returned `url`. */
function createSource(app: ApiServer, { store, settings }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/code_sources',
    schema: { operationId: 'createCodeSource', tags, body: CodeSourceCreate, response: { 201: CodeSource } },
    handler: async (request, reply) => {
      const scope = await writeScope(store, principalCallerOf(request).scope);
      return reply.code(201).send(present(await store.codeSources.create(scope, request.body), settings.publicUrl));
    },
  });
}

/** `GET /code_sources`: newest first, a bare array with paging headers. */
function listSources(app: ApiServer, { store, settings }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/code_sources',
    schema: {
      operationId: 'listCodeSources',
      tags,
      querystring: z.object(pageQuery),
      response: { 200: z.array(CodeSource) },
    },
    handler: async (request, reply) => {
      const paging = pageOf(request.query);
      const page = await store.codeSources.list(principalCallerOf(request).scope, paging);
      return sendPageHeaders(reply, paging, page).map((row) => present(row, settings.publicUrl));
    },
  });
}

/** `DELETE /code_sources/{id}`: its provider's posts are rejected from then on. */
function deleteSource(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/code_sources/:id',
    schema: { operationId: 'deleteCodeSource', tags, params: IdParams, response: { 204: NoContent } },
    handler: async (request, reply) => {
      requireFound(await store.codeSources.remove(principalCallerOf(request).scope, request.params.id), NOT_FOUND);
      return reply.code(204).send();
    },
  });
}

const MessageForm = z.record(z.string(), z.unknown()).nullish();

/** `POST /code_sources/{id}/messages`: receives a message from a provider, authenticated by its signature. */
function receive(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/code_sources/:id/messages',
    config: { access: 'public', unaudited: true },
    schema: {
      operationId: 'receiveMessage',
      security: [],
      tags,
      params: IdParams,
      body: MessageForm,
      consumes: ['application/x-www-form-urlencoded', 'multipart/form-data'],
      response: { 204: NoContent, ...errorResponses(403, 404) },
    },
    handler: async (request, reply) => {
      const source = requireFound(await parts.store.codeSources.open(request.params.id), NOT_FOUND);
      const values = textsOf(request.body);
      if (!isSigned(parts, source, request, values)) {
        throw new HoldfastError('forbidden', "The provider's signature is invalid; check the secret of the source");
      }
      await receiveMessage(parts, source.scope, messageOf(source.type, values));
      // The same response with or without a code: a provider would retry otherwise.
      return reply.code(204).send();
    },
  });
}

function isSigned(
  { settings, clock }: ApiParts,
  { type, secret }: { type: CodeSourceType; secret: string },
  request: FastifyRequest,
  values: Readonly<Record<string, string>>,
): boolean {
  if (type === 'mailgun') return isSignedByMailgun(secret, values, clock());
  const signature = [request.headers['x-twilio-signature']].flat()[0] ?? '';
  return isSignedByTwilio(secret, { url: `${settings.publicUrl}${request.url}`, values, signature });
}

function messageOf(type: CodeSourceType, values: Readonly<Record<string, string>>): Message {
  const { To = '', From = '', Body = '', recipient = '', sender = '', subject = '' } = values;
  if (type === 'twilio') return { channel: 'sms', to: [To], from: From, text: Body };
  const to = recipient.split(',').map((address) => address.trim());
  return {
    channel: 'email',
    to,
    from: sender,
    text: `${subject}\n${values['body-plain'] ?? ''}`,
    html: values['body-html'],
  };
}

function textsOf(posted: z.infer<typeof MessageForm>): Record<string, string> {
  const texts = Object.entries(posted ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts);
}

function present({ id, type, createdAt }: CodeSourceRecord, publicUrl: string): CodeSource {
  return { id, type, url: `${publicUrl}/code_sources/${id}/messages`, created_at: createdAt.toISOString() };
}
