import { STATUS_CODES } from 'node:http';
import type { SwaggerTransformObject } from '@fastify/swagger';
import { z } from 'zod';
import { ErrorBody } from '../response-schemas.ts';
import { exampleOf } from './examples.ts';
import {
  HEADERS,
  headersOf,
  RATE_HEADERS,
  errorResponseComponents,
  errorResponseName,
  type HeaderName,
} from './common-responses.ts';

/** Resource ids in examples, by the tag of the operation. */
const EXAMPLE_IDS: Record<string, string> = {
  'API keys': 'key_1',
  'audit log': 'aed_1',
  'auth connections': 'conn_1',
  'browser pools': 'pool_1',
  browsers: 'brw_1',
  'code sources': 'cds_1',
  'credential providers': 'cpv_1',
  credentials: 'cred_1',
  deployments: 'dep_1',
  extensions: 'ext_1',
  invocations: 'inv_1',
  profiles: 'prof_1',
  projects: 'prj_1',
  proxies: 'prx_1',
  webhooks: 'whk_1',
};

/** Headers of operations with cursor paging. */
const CURSOR_PAGING: Record<string, readonly HeaderName[]> = {
  listAuditLogs: ['X-Has-More', 'X-Next-Page-Token'],
  exportAuditLogChunk: ['X-Has-More', 'X-Next-Cursor', 'X-Row-Count', 'X-Content-Sha256'],
};

/**
 * Adds to the document what the schemas of routes do not say: headers, shared error responses, examples, and which bodies are
 * optional.
 */
export const completeDocument: SwaggerTransformObject = (described) => {
  if (!('openapiObject' in described)) return described.swaggerObject;
  const { openapiObject } = described;
  openapiObject.components = {
    ...openapiObject.components,
    headers: HEADERS,
    responses: errorResponseComponents(),
    schemas: { ...openapiObject.components?.schemas, Error: errorSchema() },
  };
  for (const path of Object.values(openapiObject.paths ?? {})) {
    for (const operation of [path?.get, path?.post, path?.put, path?.patch, path?.delete]) {
      if (operation === undefined) continue;
      markOptionalBody(operation.requestBody);
      const id = EXAMPLE_IDS[operation.tags?.[0] ?? ''] ?? 'x_1';
      if (operation.requestBody !== undefined) addExample(operation.requestBody, id);
      const isPaged = (operation.parameters ?? []).some((one) => 'name' in one && one.name === 'offset');
      const paging: readonly HeaderName[] =
        CURSOR_PAGING[operation.operationId ?? ''] ?? (isPaged ? ['X-Has-More', 'X-Next-Offset'] : []);
      const { responses } = operation;
      for (const [status, response] of Object.entries(responses)) {
        if ('$ref' in response) continue;
        if (response.description === ErrorBody.description) {
          responses[status] = { $ref: `#/components/responses/${errorResponseName(status)}` };
          continue;
        }
        if (response.description === 'Default Response') response.description = STATUS_CODES[Number(status)] ?? '';
        addExample(response, id);
        response.headers = headersOf(...RATE_HEADERS, ...(Number(status) < 300 ? paging : []));
      }
    }
  }
  return openapiObject;
};

/** A body whose schema allows null is optional; the document would require every body otherwise. */
function markOptionalBody(body: object | undefined): void {
  if (body === undefined) return;
  const { success, data } = OptionalBody.safeParse(body);
  if (success) Object.assign(body, { required: !data.content['application/json'].schema.anyOf.some(isNull) });
}

/** Adds an example to JSON content. */
function addExample(body: object, id: string): void {
  const { success, data } = JsonContent.safeParse(body);
  if (!success || !('content' in body)) return;
  const example = exampleOf(data.content['application/json'].schema, id);
  const json = { ...data.content['application/json'], example };
  Object.assign(body, { content: { ...data.content, 'application/json': json } });
}

const JsonContent = z.object({
  content: z.looseObject({ 'application/json': z.looseObject({ schema: z.unknown() }) }),
});

const OptionalBody = z.object({
  content: z.object({ 'application/json': z.object({ schema: z.object({ anyOf: z.array(z.unknown()) }) }) }),
});

function isNull(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'null';
}

function errorSchema(): object {
  const { $schema: _, ...schema } = z.toJSONSchema(ErrorBody);
  return schema;
}
