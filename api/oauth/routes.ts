import type { FastifyReply, FastifyRequest } from 'fastify';
import { OAUTH_SCOPES } from '../../contract/oauth.ts';
import { ANSWER_HEADERS } from '../../http/headers.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { issuerOf, OAUTH_PATHS, RESOURCE_METADATA_PATH } from './addresses.ts';
import { showErrorPages } from '../html/error-pages.ts';
import { registerConsent } from './consent.ts';
import { refusalPage } from './pages.ts';
import { createProviders } from './provider.ts';

/** Routes handled by the provider. */
const PROVIDER_PATHS = [
  OAUTH_PATHS.authorization,
  `${OAUTH_PATHS.authorization}/:uid`,
  OAUTH_PATHS.token,
  OAUTH_PATHS.registration,
  OAUTH_PATHS.revocation,
  OAUTH_PATHS.jwks,
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
];

/** The authorization server, by which programs get to act for people. Its responses follow the RFCs, not our API. */
export async function oauthServer(app: ApiServer, parts: ApiParts): Promise<void> {
  const providerOf = createProviders(parts, parts.signingKeys);
  const { publicUrl } = parts.settings;
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: 'public' };
    route.schema = { ...route.schema, hide: true };
  });
  app.addHook('onRequest', (request, _reply, done) => {
    setForwardedHeaders(request, publicUrl);
    done();
  });

  await app.register((scope, _options, done) => {
    // The provider parses bodies itself.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, body, next) => next(null, body));
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      const answer = (await providerOf()).callback();
      for (const [name, value] of Object.entries(ANSWER_HEADERS)) reply.raw.setHeader(name, value);
      reply.hijack();
      await answer(request.raw, reply.raw);
    };
    for (const url of PROVIDER_PATHS) scope.route({ method: ['GET', 'POST'], url, handler });
    done();
  });

  for (const [resource, url] of [
    [`${issuerOf(publicUrl)}/mcp`, `${RESOURCE_METADATA_PATH}/mcp`],
    [issuerOf(publicUrl), RESOURCE_METADATA_PATH],
  ] as const) {
    app.get(url, () => ({
      resource,
      resource_name: 'Holdfast',
      authorization_servers: [issuerOf(publicUrl)],
      scopes_supported: OAUTH_SCOPES,
      bearer_methods_supported: ['header'],
    }));
  }
  await app.register((scope: ApiServer, _options, done) => {
    showErrorPages(scope, (refusal, _request, language) => refusalPage(refusal, language));
    registerConsent(scope, parts, providerOf);
    done();
  });
}

/** The provider derives URLs and cookies from these headers: set them to our public URL. */
function setForwardedHeaders({ raw }: FastifyRequest, publicUrl: string): void {
  const { host, protocol } = new URL(publicUrl);
  raw.headers['x-forwarded-host'] = host;
  raw.headers['x-forwarded-proto'] = protocol.replace(':', '');
}
