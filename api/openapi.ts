import swagger, { type SwaggerTransformObject } from '@fastify/swagger';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import type { ApiServer } from './context.ts';

/** Describes every route from its own schemas. Register before the routes. */
export async function describeRoutes(app: ApiServer, publicUrl: string): Promise<void> {
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
    transformObject: withOptionalBodies,
  });
}

/** A body whose schema takes null may be left out (the document would call every body required). */
const withOptionalBodies: SwaggerTransformObject = (described) => {
  if (!('openapiObject' in described)) return described.swaggerObject;
  for (const path of Object.values(described.openapiObject.paths ?? {})) {
    for (const body of [path?.post?.requestBody, path?.patch?.requestBody]) {
      if (body === undefined || !('content' in body)) continue;
      const schema = body.content['application/json']?.schema;
      const kinds: readonly object[] = schema !== undefined && 'anyOf' in schema ? (schema.anyOf ?? []) : [];
      body.required = !kinds.some((kind) => 'type' in kind && kind.type === 'null');
    }
  }
  return described.openapiObject;
};

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
