import type { FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import type { HoldfastError } from '../../contract/errors.ts';
import { toHoldfastError } from '../../http/errors.ts';
import type { ApiServer } from '../context.ts';
import { chooseLanguage, type Language } from '../hosted/shell.ts';
import { staticPageHeaders, type StaticPage } from './static-page.ts';

/** The page for what was refused, in the language of who reads it. */
export type RenderErrorPage = (refusal: HoldfastError, request: FastifyRequest, language: Language) => StaticPage;

/**
 * Shows the refusals of a scope's routes as pages to people, who come to these addresses by links; programs read JSON as everywhere.
 * Status, headers and logging stay those of the error.
 */
export function showErrorPages(scope: ApiServer, render: RenderErrorPage): void {
  const refused = new WeakMap<FastifyRequest, HoldfastError>();
  scope.setErrorHandler((error, request) => {
    if (prefersPages(request)) refused.set(request, toHoldfastError(error));
    throw error;
  });
  scope.addHook('onSend', (request, reply, payload, done) => {
    const refusal = refused.get(request);
    const page = refusal === undefined ? null : render(refusal, request, languageOf(request));
    if (page !== null) void reply.headers(staticPageHeaders(page));
    done(null, page === null ? payload : page.html);
  });
}

/** The language of ours that a person's browser asks for. */
export function languageOf({ headers }: Pick<FastifyRequest, 'headers'>): Language {
  return chooseLanguage(headers['accept-language']);
}

/** What takes anything is a program. */
function prefersPages(request: FastifyRequest): boolean {
  return new Negotiator(request).mediaType(['application/json', 'text/html']) === 'text/html';
}
