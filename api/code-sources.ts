import multipart from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { receiveMessage, type Message } from '../codes/receive.ts';
import { isSignedByMailgun, isSignedByTwilio } from '../codes/signatures.ts';
import { CodeSource, CodeSourceCreate, type CodeSourceType } from '../contract/code-sources.ts';
import { HoldfastError } from '../contract/errors.ts';
import type { CodeSourceRecord } from '../store/queries/code-sources.ts';
import { throwFormError } from '../http/bodies.ts';
import { IdParams, NoContent, refusals } from './answer-schemas.ts';
import { principalCallerOf } from './caller.ts';
import type { ApiServer } from './context.ts';
import { found } from './found.ts';
import { pageOf, pageQuery, sendPageHeaders } from './pages.ts';
import type { ApiParts } from './parts.ts';
import { writeScope } from './scope.ts';

const tags = ['code sources'];
const NOT_FOUND = 'Code source not found; check its id';
/** What a provider posts, attachments aside. */
const FORM_LIMITS = { fields: 200, fieldSize: 1024 * 1024, files: 50, fileSize: 20 * 1024 * 1024 };

/** Providers that pass on text messages and e-mails, so that the codes in them reach the logins that wait. */
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
      // Attachments hold no code that anybody sends.
      onFile: (part) => Promise.resolve(void part.file.resume()),
    });
    // The form is read before its handler is asked; what fails until then is the sender's.
    forms.setErrorHandler((error, request) => {
      if (request.isMultipart() && (request.body === undefined || request.body === null)) throwFormError(error);
      throw error;
    });
    receive(forms.withTypeProvider<ZodTypeProvider>(), parts);
  });
}

/** `POST /code_sources`: the answer's `url` is what the provider is to be told. */
function createSource(app: ApiServer, { store, settings }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/code_sources',
    schema: {
      operationId: 'createCodeSource',
      tags,
      body: CodeSourceCreate,
      response: { 201: CodeSource },
    },
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
      const asked = pageOf(request.query);
      const page = await store.codeSources.list(principalCallerOf(request).scope, asked);
      sendPageHeaders(reply, asked, page);
      return page.rows.map((row) => present(row, settings.publicUrl));
    },
  });
}

/** `DELETE /code_sources/{id}`: what its provider posts from then on is refused. */
function deleteSource(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/code_sources/:id',
    schema: {
      operationId: 'deleteCodeSource',
      tags,
      params: IdParams,
      response: { 204: NoContent },
    },
    handler: async (request, reply) => {
      found(await store.codeSources.remove(principalCallerOf(request).scope, request.params.id), NOT_FOUND);
      return reply.code(204).send();
    },
  });
}

const Posted = z.record(z.string(), z.unknown()).nullish();

/** `POST /code_sources/{id}/messages`: a message that a provider passes on, proved by its signature. */
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
      body: Posted,
      consumes: ['application/x-www-form-urlencoded', 'multipart/form-data'],
      response: { 204: NoContent, ...refusals(403, 404) },
    },
    handler: async (request, reply) => {
      const source = found(await parts.store.codeSources.open(request.params.id), NOT_FOUND);
      const values = textsOf(request.body);
      if (!isSigned(parts, source, request, values)) {
        throw new HoldfastError(
          'forbidden',
          'The signature is not that of the provider; check the secret of the source',
        );
      }
      await receiveMessage(parts, source.scope, messageOf(source.type, values));
      // Whether it held a code, and for whom, is nothing for a sender: it would only send it again.
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

function textsOf(posted: z.infer<typeof Posted>): Record<string, string> {
  const texts = Object.entries(posted ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts);
}

function present({ id, type, createdAt }: CodeSourceRecord, publicUrl: string): CodeSource {
  return { id, type, url: `${publicUrl}/code_sources/${id}/messages`, created_at: createdAt.toISOString() };
}
