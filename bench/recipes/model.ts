import { createServer } from 'node:http';
import { once } from 'node:events';
import { z } from 'zod';

const Member = z.object({ type: z.string().optional() });
const Named = z.object({ name: z.string() });
const Message = z.object({
  role: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).nullish(),
});
const ChatRequest = z.object({
  model: z.string(),
  messages: z.array(Message),
  tools: z.array(z.object({ function: Named })).optional(),
  response_format: z
    .object({
      json_schema: z.object({ schema: z.object({ properties: z.record(z.string(), Member) }) }).optional(),
    })
    .optional(),
});
type Members = Record<string, z.infer<typeof Member>>;
type ChatRequest = z.infer<typeof ChatRequest>;

/** The greeting of the account page. */
const GREETING = /Hello, ([A-Z][a-z]+ [A-Z][a-z]+)/;
const FIRST_LINK = /\[(\d+-\d+)\] link:/;
const ADDRESS = /https?:\/\/[^\s"'<>)]+\/account/;

/** A stand-in for a language model. Close it. */
export interface Model {
  /** For OPENAI_BASE_URL. */
  url: string;
  /** Number of answered requests. */
  answered(): number;
  close(): void;
}

/**
 * Starts a chat-completions server for programs that read the name on the account page. It asks for the page, with the tools or
 * the schema of the request, until a message contains the greeting, and answers with the name in it.
 */
export async function startModel(): Promise<Model> {
  let answered = 0;
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const reply = answer(Buffer.concat(pieces).toString());
      answered += reply.status === 200 ? 1 : 0;
      response.writeHead(reply.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(reply.body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${port}/v1`,
    answered: () => answered,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer(text: string): { status: number; body: unknown } {
  try {
    const request = ChatRequest.parse(JSON.parse(text));
    return { status: 200, body: completionOf(request.model, replyTo(request)) };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'invalid request';
    return { status: 400, body: { error: { message, type: 'invalid_request_error', param: null, code: null } } };
  }
}

type Reply = { content: string } | { tool: string; input: unknown };

function replyTo({ messages, tools, response_format: format }: ChatRequest): Reply {
  const text = messages.map(({ content }) => textOf(content)).join('\n');
  const name = GREETING.exec(text)?.[1];
  const wanted = format?.json_schema?.schema.properties;
  if (wanted !== undefined) return { content: JSON.stringify(objectOf(wanted, name, text)) };
  if (name !== undefined) return { content: `The account belongs to ${name}.` };
  const tool = tools?.[0]?.function.name;
  if (tool === undefined) throw new Error('the request has neither a page nor a tool to get one');
  return { tool, input: { path: '/account' } };
}

/** An object for the requested members: an agent's next action, the data read, or whether it is complete. */
function objectOf(wanted: Members, name: string | undefined, text: string): unknown {
  if ('twoStep' in wanted) return { action: clickOf(text), twoStep: false };
  if ('action' in wanted) return nextAction(wanted, name, text);
  if ('completed' in wanted) return { progress: 'everything was read', completed: true };
  if ('name' in wanted && name !== undefined) return { name };
  throw new Error(`no answer for ${Object.keys(wanted).join(', ')}, or no page in the request`);
}

/** A click on the first link of a page given as a tree of numbered elements. */
function clickOf(text: string): unknown {
  const elementId = FIRST_LINK.exec(text)?.[1];
  if (elementId === undefined) throw new Error('no page with a link in the request');
  return { elementId, description: 'the first link', method: 'click', arguments: [] };
}

function nextAction(wanted: Members, name: string | undefined, text: string): unknown {
  const thoughts = Object.keys(wanted).filter((member) => wanted[member]?.type === 'string');
  const url = ADDRESS.exec(text)?.[0];
  const action =
    name === undefined
      ? { navigate: { url, new_tab: false } }
      : { done: { text: name, success: true, files_to_display: [] } };
  return { ...Object.fromEntries(thoughts.map((member) => [member, 'reading the account page'])), action: [action] };
}

function textOf(content: ChatRequest['messages'][number]['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text = '' }) => text).join('\n');
}

function completionOf(model: string, reply: Reply): unknown {
  const message =
    'content' in reply
      ? { role: 'assistant', content: reply.content }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: reply.tool, arguments: JSON.stringify(reply.input) } },
          ],
        };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [{ index: 0, message, finish_reason: 'content' in reply ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}
