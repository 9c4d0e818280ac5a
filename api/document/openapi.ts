import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import type { ApiServer } from '../context.ts';
import { commonErrorStatuses, errorResponses } from '../response-schemas.ts';
import { completeDocument } from './complete-document.ts';

/** Generates the OpenAPI document from the schemas of routes. Register before the routes. */
export async function describeRoutes(app: ApiServer, publicUrl: string): Promise<void> {
  app.addHook('onRoute', ({ method, config, schema }) => {
    if (schema?.hide === true || !isRecord(schema?.response)) return;
    const common = errorResponses(...commonErrorStatuses({ method, access: config?.access }));
    schema.response = { ...common, ...schema.response };
  });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Holdfast', description: 'Keeps browser profiles logged in.', version: '0.1.0' },
      servers: [{ url: publicUrl }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          sessionToken: { type: 'apiKey', in: 'query', name: 'jwt' },
        },
      },
      security: [{ bearer: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: completeDocument,
  });
}

/** `GET /openapi.json`, without a key. */
export function registerOpenApi(app: ApiServer): void {
  app.route({
    method: 'GET',
    url: '/openapi.json',
    config: { access: 'public' },
    schema: { hide: true },
    handler: () => app.swagger(),
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** No requests to other hosts, no inline scripts, no framing. */
const CONTENT_SECURITY_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** `GET /docs`: the document as a web page, without a key. Register after {@link describeRoutes}. */
export async function showDocument(app: ApiServer): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'public' };
    });
    await scope.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: CONTENT_SECURITY_POLICY,
      theme: { title: 'Holdfast API' },
      uiConfig: {
        layout: 'BaseLayout',
        docExpansion: 'none',
        deepLinking: true,
        validatorUrl: null,
        defaultModelsExpandDepth: -1,
      },
    });
  });
}
