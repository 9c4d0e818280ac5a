import type { CallToolResult } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';

/** The result of a tool, structured for programs and as text for models; nullish values are dropped. */
export function toolResult(content: Record<string, unknown>): CallToolResult {
  const structuredContent = Object.fromEntries(
    Object.entries(content).filter(([, value]) => value !== undefined && value !== null),
  );
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

/** An error response of an operation. The SDK turns it into a tool error with this message. */
export class OperationError extends Error {}

/** Calls public operations as the sender of the MCP request: same credential, scope, validation, limits and audit. */
export interface Operations {
  /** The JSON response of an operation; null if it is empty. Throws {@link OperationError}. */
  json(method: Method, url: string, body?: object): Promise<unknown>;
  /** The raw response of an operation. Throws {@link OperationError}. */
  bytes(method: Method, url: string, body?: object): Promise<Buffer>;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Headers that identify the sender and the project. */
const FORWARDED_HEADERS = ['authorization', 'x-kernel-project-id', 'x-kernel-project', 'user-agent', 'host'] as const;

const ErrorResponse = z.object({
  code: z.string(),
  message: z.string(),
  details: z.array(z.object({ message: z.string() })).optional(),
  existing_id: z.string().optional(),
});

/** Creates the in-process client of `app` for the sender of `request`. */
export function createOperations(app: FastifyInstance, request: FastifyRequest): Operations {
  const sent = Object.fromEntries(
    FORWARDED_HEADERS.flatMap((name) => {
      const value = [request.headers[name]].flat()[0];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  const call = async (method: Method, url: string, body?: object) => {
    const json =
      body === undefined
        ? { headers: sent }
        : { headers: { ...sent, 'content-type': 'application/json' }, payload: JSON.stringify(body) };
    const response = await app.inject({ method, url, remoteAddress: request.ip, ...json });
    if (response.statusCode >= 400) throw new OperationError(errorText(response.body, response.statusCode));
    return response;
  };
  return {
    json: async (method, url, body) => {
      const response = await call(method, url, body);
      return response.body === '' ? null : response.json<unknown>();
    },
    bytes: async (method, url, body) => (await call(method, url, body)).rawPayload,
  };
}

/** Builds a path, percent-encoding the ids or names in it. */
export function pathTo(parts: TemplateStringsArray, ...names: string[]): string {
  return String.raw({ raw: parts }, ...names.map((name) => encodeURIComponent(name)));
}

/** Builds the query string of a list; empty without filters. */
export function queryOf(filter: Record<string, string | number | undefined>): string {
  const given = Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

function errorText(body: string, status: number): string {
  const error = ErrorResponse.safeParse(parseJson(body));
  if (!error.success) return `The operation failed with status ${status}; try again`;
  const { code, message, details = [], existing_id: existing } = error.data;
  const lines = [`${code}: ${message}`, ...details.map((detail) => detail.message)];
  if (existing !== undefined) lines.push(`existing_id: ${existing}`);
  return lines.join('\n');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
