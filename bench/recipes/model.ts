import { createServer } from 'node:http';
import { once } from 'node:events';
import { z } from 'zod';

const Member = z.object({ type: z.string().optional() });
const Named = z.object({ name: z.string() });
const Message = z.object({
  role: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).nullish(),
});
const Question = z.object({
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
type Question = z.infer<typeof Question>;

/** What the account page greets its owner with. */
const GREETING = /Hello, ([A-Z][a-z]+ [A-Z][a-z]+)/;
const FIRST_LINK = /\[(\d+-\d+)\] link:/;
const ADDRESS = /https?:\/\/[^\s"'<>)]+\/account/;

/** A stand-in for a language model. Close it. */
export interface Model {
  /** What a client takes for OPENAI_BASE_URL. */
  url: string;
  /** How many questions it has answered. */
  answered(): number;
  close(): void;
}

/**
 * A server of the chat-completions protocol on a free port, for programs that read the name on the account page. It knows no name:
 * it asks for the page until a message shows the greeting, by what the question offers, and answers what it was shown.
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
    const question = Question.parse(JSON.parse(text));
    return { status: 200, body: completionOf(question.model, replyTo(question)) };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'not a question';
    return { status: 400, body: { error: { message, type: 'invalid_request_error', param: null, code: null } } };
  }
}

type Reply = { content: string } | { tool: string; input: unknown };

function replyTo({ messages, tools, response_format: format }: Question): Reply {
  const shown = messages.map(({ content }) => textOf(content)).join('\n');
  const name = GREETING.exec(shown)?.[1];
  const wanted = format?.json_schema?.schema.properties;
  if (wanted !== undefined) return { content: JSON.stringify(objectOf(wanted, name, shown)) };
  if (name !== undefined) return { content: `The account belongs to ${name}.` };
  const tool = tools?.[0]?.function.name;
  if (tool === undefined) throw new Error('no page is shown, and no tool is offered that shows one');
  return { tool, input: { path: '/account' } };
}

/** An object by the names of its members: an agent's next action, what was read, or whether that is all. */
function objectOf(wanted: Members, name: string | undefined, shown: string): unknown {
  if ('twoStep' in wanted) return { action: clickOf(shown), twoStep: false };
  if ('action' in wanted) return nextAction(wanted, name, shown);
  if ('completed' in wanted) return { progress: 'all is read', completed: true };
  if ('name' in wanted && name !== undefined) return { name };
  throw new Error(`no answer is known with ${Object.keys(wanted).join(', ')}, or no page was shown`);
}

/** A click on the first link of a page that is shown as a tree with numbers. */
function clickOf(shown: string): unknown {
  const elementId = FIRST_LINK.exec(shown)?.[1];
  if (elementId === undefined) throw new Error('no page with a link was shown');
  return { elementId, description: 'the first link', method: 'click', arguments: [] };
}

function nextAction(wanted: Members, name: string | undefined, shown: string): unknown {
  const thoughts = Object.keys(wanted).filter((member) => wanted[member]?.type === 'string');
  const url = ADDRESS.exec(shown)?.[0];
  const action =
    name === undefined
      ? { navigate: { url, new_tab: false } }
      : { done: { text: name, success: true, files_to_display: [] } };
  return { ...Object.fromEntries(thoughts.map((member) => [member, 'reading the account page'])), action: [action] };
}

function textOf(content: Question['messages'][number]['content']): string {
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
