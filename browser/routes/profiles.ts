import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { HoldfastError } from '../../contract/errors.ts';
import { PAGE } from '../../contract/limits.ts';
import { presentProfile, Profile, ProfileCreate, ProfileUpdate } from '../../contract/profiles.ts';
import { projectOf } from '../http/caller.ts';
import type { ProfileRecords } from '../profile/profile-store.ts';

const Params = z.object({ id_or_name: z.string().min(1).max(255) });
const Query = z.object({
  query: z.string().max(255).optional(),
  limit: z.coerce.number().int().min(1).max(PAGE.max).default(PAGE.default),
  offset: z.coerce.number().int().min(0).default(0),
});

/** `/profiles`: named browser profiles. Their state (cookies and storage) is never returned. */
export function profileRoutes(app: FastifyInstance, records: ProfileRecords): void {
  const routes = app.withTypeProvider<ZodTypeProvider>();
  routes.post('/profiles', { schema: { body: ProfileCreate, response: { 201: Profile } } }, async (request, reply) => {
    const record = await records.create(projectOf(request), request.body?.name ?? null);
    return reply.code(201).send(presentProfile(record));
  });
  routes.get(
    '/profiles',
    { schema: { querystring: Query, response: { 200: z.array(Profile) } } },
    async (request, reply) => {
      const { limit, offset, query } = request.query;
      const wanted = query === undefined || query === '' ? {} : { query };
      const { rows, hasMore } = await records.list(projectOf(request), { limit, offset, ...wanted });
      reply.header('x-has-more', String(hasMore));
      reply.header('x-next-offset', String(hasMore ? offset + rows.length : 0));
      return rows.map(presentProfile);
    },
  );
  const schema = { params: Params, response: { 200: Profile } };
  routes.get('/profiles/:id_or_name', { schema }, async (request) => {
    const record = await records.find(projectOf(request), request.params.id_or_name);
    if (record === null) throw noProfile();
    return presentProfile(record);
  });
  routes.patch('/profiles/:id_or_name', { schema: { ...schema, body: ProfileUpdate } }, async (request) => {
    const record = await records.rename(projectOf(request), request.params.id_or_name, request.body.name);
    if (record === null) throw noProfile();
    return presentProfile(record);
  });
  routes.delete('/profiles/:id_or_name', { schema: { params: Params } }, async (request, reply) => {
    if (!(await records.remove(projectOf(request), request.params.id_or_name))) throw noProfile();
    return reply.code(204).send();
  });
}

function noProfile(): HoldfastError {
  return new HoldfastError('not_found', 'Profile not found in this project; create it first');
}
