import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import Negotiator from 'negotiator';
import { HoldfastError } from '../../contract/errors.ts';
import { COMMON_HEADERS } from '../hosted/headers.ts';
import { chooseLanguage } from '../hosted/shell.ts';
import { loadConsoleAssets } from './assets.ts';
import { ASSET_PATH, type ConsoleSettings, renderDocument } from './document.ts';

/** Cache lifetime of a file in seconds: its name changes with its content. */
const KEPT_SECONDS = 31_536_000;

/**
 * The console: one document for all pages below `/console`, and the files of its script, which calls the public API with the
 * person's session.
 */
export function consolePages(app: FastifyInstance, settings: ConsoleSettings): void {
  app.get<{ Params: { name: string } }>(`${ASSET_PATH}:name`, async (request, reply) => {
    const asset = (await loadConsoleAssets()).files.get(request.params.name);
    if (asset === undefined) {
      throw new HoldfastError('not_found', 'This file belongs to another version of the console; reload the page');
    }
    const accepted = new Negotiator(request).encodings();
    const encoding = (['br', 'gzip'] as const).find((name) => accepted.includes(name));
    void reply.headers({
      ...COMMON_HEADERS,
      'cache-control': `public, max-age=${KEPT_SECONDS}, immutable`,
      'content-type': asset.type,
      vary: 'accept-encoding',
    });
    if (encoding === undefined) return reply.send(asset.plain());
    return reply.header('content-encoding', encoding).send(asset[encoding]);
  });

  for (const url of ['/console', '/console/*']) {
    app.get(url, { exposeHeadRoute: true }, async (request, reply) => {
      const assets = await loadConsoleAssets();
      const nonce = randomBytes(16).toString('base64');
      const language = chooseLanguage(request.headers['accept-language']);
      return reply
        .headers({
          ...COMMON_HEADERS,
          'x-frame-options': 'DENY',
          'content-security-policy': consoleCsp(nonce),
          'content-type': 'text/html; charset=utf-8',
          'content-language': language,
          vary: 'accept-language',
        })
        .send(renderDocument(assets, { language, nonce, settings }));
    });
  }
}

/**
 * Own files and requests only. The nonce allows the component kit's style elements; recordings are blobs, and live views are
 * framed from our own origin.
 */
function consoleCsp(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
