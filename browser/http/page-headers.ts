import type { FastifyReply } from 'fastify';

/** One page of a whole list, with the headers that say whether more follows. */
export function sendPage<Item>(
  reply: FastifyReply,
  { limit, offset }: { limit: number; offset: number },
  items: readonly Item[],
): Item[] {
  const hasMore = offset + limit < items.length;
  reply.header('x-has-more', String(hasMore));
  reply.header('x-next-offset', String(hasMore ? offset + limit : 0));
  return items.slice(offset, offset + limit);
}
