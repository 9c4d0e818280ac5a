import { subscribe, unsubscribe, type ChannelListener } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { useService } from './service-fixture.ts';

/** The schemas of operations as the service itself has them, with the rules that a document cannot tell. */
const schemas = new Map<string, { body: unknown; response: Record<string, unknown> }>();
const listen: ChannelListener = (message) => {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook('onRoute', ({ schema }) => {
    const { operationId, body, response } = (schema ?? {}) as {
      operationId?: string;
      body?: unknown;
      response?: object;
    };
    if (operationId !== undefined) schemas.set(operationId, { body, response: { ...response } });
  });
};
beforeAll(() => subscribe('fastify.initialization', listen));
afterAll(() => void unsubscribe('fastify.initialization', listen));
const fixture = useService();

interface Content {
  content?: Record<string, { example?: unknown }>;
}
interface Described {
  operationId: string;
  requestBody?: Content;
  responses: Record<string, Content>;
}

it('every operation has examples that match its schemas', async () => {
  const document = (await fixture().app.inject('/openapi.json')).json<{
    paths: Record<string, Record<string, Described>>;
  }>();
  const wrong: string[] = [];
  const judge = (what: string, schema: unknown, { content }: Content) => {
    const json = content?.['application/json'];
    if (json === undefined) return;
    if (!(schema instanceof z.ZodType)) wrong.push(`${what} has no schema`);
    else {
      const { success, error } = schema.safeParse(json.example);
      if (!success) wrong.push(`${what} ${JSON.stringify(json.example)}: ${z.prettifyError(error)}`);
    }
  };
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, { operationId, requestBody, responses }] of Object.entries(methods)) {
      const known = schemas.get(operationId);
      const name = `${method.toUpperCase()} ${path}`;
      if (requestBody !== undefined) judge(`${name} request`, known?.body, requestBody);
      for (const [status, answer] of Object.entries(responses))
        judge(`${name} ${status}`, known?.response[status], answer);
    }
  expect(wrong).toEqual([]);
});
