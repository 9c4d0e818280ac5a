import type { CallToolResult } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';

/** What a tool found out, for programs and, as text, for models. */
export function answer(found: Record<string, unknown>): CallToolResult {
  const structuredContent = Object.fromEntries(
    Object.entries(found).filter(([, value]) => value !== undefined && value !== null),
  );
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

/** A refusal of an operation, in the words of its error body. The SDK makes a tool error of it. */
export class OperationError extends Error {}

/** The public operations, asked by whoever asks for a tool: same credential, scope, validation, limits and audit. */
export interface Operations {
  /** What the operation answers, as JSON. Throws {@link OperationError} for a refusal. */
  json(method: Method, url: string, body?: object): Promise<unknown>;
  /** What the operation answers, as it is. Throws {@link OperationError} for a refusal. */
  bytes(method: Method, url: string, body?: object): Promise<Buffer>;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** What of the request says who asks, and for which project. */
const HEADERS = ['authorization', 'x-kernel-project-id', 'x-kernel-project', 'user-agent', 'host'] as const;

const Refusal = z.object({
  code: z.string(),
  message: z.string(),
  details: z.array(z.object({ message: z.string() })).optional(),
  existing_id: z.string().optional(),
});

/** The operations of `app`, in process, for the sender of `request`. */
export function createOperations(app: FastifyInstance, request: FastifyRequest): Operations {
  const sent = Object.fromEntries(
    HEADERS.flatMap((name) => {
      const value = [request.headers[name]].flat()[0];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  const ask = async (method: Method, url: string, body?: object) => {
    const json =
      body === undefined
        ? { headers: sent }
        : { headers: { ...sent, 'content-type': 'application/json' }, payload: JSON.stringify(body) };
    const answer = await app.inject({ method, url, remoteAddress: request.ip, ...json });
    if (answer.statusCode >= 400) throw new OperationError(wordsOf(answer.body, answer.statusCode));
    return answer;
  };
  return {
    json: async (method, url, body) => {
      const answer = await ask(method, url, body);
      return answer.body === '' ? null : answer.json<unknown>();
    },
    bytes: async (method, url, body) => (await ask(method, url, body)).rawPayload,
  };
}

/** A path made of fixed parts and of ids or names, which may hold any character. */
export function pathTo(parts: TemplateStringsArray, ...names: string[]): string {
  return String.raw({ raw: parts }, ...names.map((name) => encodeURIComponent(name)));
}

function wordsOf(body: string, status: number): string {
  const refusal = Refusal.safeParse(parsed(body));
  if (!refusal.success) return `The operation failed with status ${status}; try again`;
  const { code, message, details = [], existing_id: existing } = refusal.data;
  const lines = [`${code}: ${message}`, ...details.map((detail) => detail.message)];
  if (existing !== undefined) lines.push(`existing_id: ${existing}`);
  return lines.join('\n');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
