import type { FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import type { HoldfastError } from '../../contract/errors.ts';
import { toHoldfastError } from '../../http/errors.ts';
import type { ApiServer } from '../context.ts';
import { chooseLanguage, type Language } from '../hosted/shell.ts';
import { staticPageHeaders, type StaticPage } from './static-page.ts';

/** Renders the page for an error, in the reader's language. */
type RenderErrorPage = (error: HoldfastError, request: FastifyRequest, language: Language) => StaticPage;

/**
 * Shows errors of a scope's routes as pages to people, who follow links there; programs still get JSON. Status, headers and
 * logging stay those of the error.
 */
export function showErrorPages(scope: ApiServer, render: RenderErrorPage): void {
  const errors = new WeakMap<FastifyRequest, HoldfastError>();
  scope.setErrorHandler((error, request) => {
    if (prefersHtml(request)) errors.set(request, toHoldfastError(error));
    throw error;
  });
  scope.addHook('onSend', (request, reply, payload, done) => {
    const error = errors.get(request);
    const page = error === undefined ? null : render(error, request, languageOf(request));
    if (page !== null) void reply.headers(staticPageHeaders(page));
    done(null, page === null ? payload : page.html);
  });
}

/** The supported language that the browser prefers. */
export function languageOf({ headers }: Pick<FastifyRequest, 'headers'>): Language {
  return chooseLanguage(headers['accept-language']);
}

/** False for clients that accept anything: those are programs. */
function prefersHtml(request: FastifyRequest): boolean {
  return new Negotiator(request).mediaType(['application/json', 'text/html']) === 'text/html';
}
