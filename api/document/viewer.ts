import swaggerUi from '@fastify/swagger-ui';
import type { ApiServer } from '../context.ts';

/** Nothing but this service is asked, no script stands in the page, and no other page frames it. */
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

/** `GET /docs`: the document, for people; without a key, as the document itself. Register after {@link describeRoutes}. */
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
