import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { PAGE } from '../contract/limits.ts';
import type { Page, PageRequest } from '../store/scope.ts';

/** Largest offset of a page. */
const MAX_OFFSET = 10_000_000;

/** A whole number in a query string. */
const Integer = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number);

const limitUpTo = (most: number) => Integer.pipe(z.int().min(1).max(most)).optional();

/** `limit` and `offset` query parameters of every list. */
export const pageQuery = {
  limit: limitUpTo(PAGE.max),
  offset: Integer.pipe(z.int().min(0).max(MAX_OFFSET)).optional(),
};

/** The same for lists that the CLI requests with one extra row, to see whether more follow. */
export const pageQueryWithOneMore = { ...pageQuery, limit: limitUpTo(PAGE.max + 1) };

/** The page requested by a query, with defaults. */
export function pageOf(query: { limit?: number | undefined; offset?: number | undefined }): PageRequest {
  return { limit: query.limit ?? PAGE.default, offset: query.offset ?? 0 };
}

/** A flag in a query string. */
export const QueryFlag = z.enum(['true', 'false']).transform((value) => value === 'true');

/** An optional text filter of a list; clients send an empty one for no filter. */
export const queryFilter = (maxLength = 255) =>
  z
    .string()
    .max(maxLength)
    .optional()
    .transform((text) => (text === '' ? undefined : text));

/** Sets the paging headers of a list: whether more rows follow, and the offset of the next page (0 on the last). Returns its rows. */
export function sendPageHeaders<Row>(reply: FastifyReply, request: PageRequest, page: Page<Row>): Row[] {
  void reply.header('x-has-more', String(page.hasMore));
  void reply.header('x-next-offset', String(page.hasMore ? request.offset + page.rows.length : 0));
  return page.rows;
}
