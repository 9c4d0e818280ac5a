import swagger from '@fastify/swagger';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { commonRefusals, refusals } from './answer-schemas.ts';
import type { ApiServer } from './context.ts';
import { completeDocument } from './document/complete-document.ts';

/** Describes every route from its own schemas. Register before the routes. */
export async function describeRoutes(app: ApiServer, publicUrl: string): Promise<void> {
  app.addHook('onRoute', ({ method, config, schema }) => {
    if (schema?.hide === true || !isRecord(schema?.response)) return;
    const common = refusals(...commonRefusals({ method, access: config?.access }));
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

/** `GET /openapi.json`, without a key: the document says nothing about anyone's data. */
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
