import { z } from 'zod';
import { HoldfastError } from '../../contract/errors.ts';
import { CreatedInvitation, Invitation, InvitationCreate, Member, MemberUpdate } from '../../contract/people.ts';
import type { InvitationRecord } from '../../store/queries/invitations.ts';
import type { MemberRecord } from '../../store/queries/memberships.ts';
import { IdParams, NoContent, errorResponses } from '../response-schemas.ts';
import { organizationWideCallerOf, principalIdOf, rejectPrograms } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { FastifyRequest } from 'fastify';
import { requireFound } from '../nullish.ts';
import { pageOf, pageQuery, sendPageHeaders } from '../paging.ts';
import type { ApiParts } from '../parts.ts';

const tags = ['members'];
const NOT_FOUND = 'Member not found; list members with GET /org/members';

/** Members of the organization and their invitations. */
export function registerMembers(app: ApiServer, parts: ApiParts): void {
  listMembers(app, parts);
  retrieveMember(app, parts);
  updateMember(app, parts);
  removeMember(app, parts);
  createInvitation(app, parts);
  listInvitations(app, parts);
  deleteInvitation(app, parts);
}

const Query = z.object(pageQuery);

/** `GET /org/members`: sorted by email address, a bare array with paging headers. */
function listMembers(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/org/members',
    schema: { operationId: 'listMembers', tags, querystring: Query, response: { 200: z.array(Member) } },
    handler: async (request, reply) => {
      const asked = pageOf(request.query);
      const page = await store.memberships.list(organizationOf(request), asked);
      sendPageHeaders(reply, asked, page);
      return page.rows.map(presentMember);
    },
  });
}

/** `GET /org/members/{id}`: by the person's id. */
function retrieveMember(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/org/members/:id',
    schema: { operationId: 'retrieveMember', tags, params: IdParams, response: { 200: Member } },
    handler: async (request) => {
      const member = await store.memberships.find(organizationOf(request), { userId: request.params.id });
      return presentMember(requireFound(member, NOT_FOUND));
    },
  });
}

/** `PATCH /org/members/{id}`: changes the role, effective from the next request. The last owner keeps theirs. */
function updateMember(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: '/org/members/:id',
    config: { needsConfirmation: true },
    schema: {
      operationId: 'updateMember',
      tags,
      params: IdParams,
      body: MemberUpdate,
      response: { 200: Member, ...errorResponses(422) },
    },
    handler: async (request) => {
      rejectPrograms(request, 'change members');
      const { role } = request.body;
      return presentMember(
        requireFound(await store.memberships.setRole(organizationOf(request), request.params.id, role), NOT_FOUND),
      );
    },
  });
}

/** `DELETE /org/members/{id}`: ends their sessions here at once. The last owner cannot be removed. */
function removeMember(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/org/members/:id',
    schema: {
      operationId: 'removeMember',
      tags,
      params: IdParams,
      response: { 204: NoContent, ...errorResponses(422) },
    },
    handler: async (request, reply) => {
      rejectPrograms(request, 'change members');
      requireFound(await store.memberships.remove(organizationOf(request), request.params.id), NOT_FOUND);
      return reply.code(204).send();
    },
  });
}

/**
 * `POST /org/invitations`: returns the link, once, for the inviter to send. Members cannot be invited: the link would promise a
 * role that accepting it does not grant.
 */
function createInvitation(app: ApiServer, { store, settings }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/org/invitations',
    config: { needsConfirmation: true, returnsSecret: true },
    schema: {
      operationId: 'createInvitation',
      tags,
      body: InvitationCreate,
      response: { 201: CreatedInvitation, ...errorResponses(409) },
    },
    handler: async (request, reply) => {
      rejectPrograms(request, 'invite members');
      const organizationId = organizationOf(request);
      const { email } = request.body;
      if ((await store.memberships.find(organizationId, { email })) !== null)
        throw new HoldfastError(
          'already_exists',
          'They are already a member; change their role with PATCH /org/members/{id}',
        );
      const invitedBy = principalIdOf(organizationWideCallerOf(request, REFUSAL));
      const { invitation, code } = await store.invitations.create(organizationId, { ...request.body, invitedBy });
      const url = `${settings.publicUrl}/console#invitation=${code}`;
      return reply.code(201).send({ ...presentInvitation(invitation), url });
    },
  });
}

/** `GET /org/invitations`: pending ones, a bare array with paging headers. */
function listInvitations(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/org/invitations',
    schema: { operationId: 'listInvitations', tags, querystring: Query, response: { 200: z.array(Invitation) } },
    handler: async (request, reply) => {
      const asked = pageOf(request.query);
      const page = await store.invitations.list(organizationOf(request), asked);
      sendPageHeaders(reply, asked, page);
      return page.rows.map(presentInvitation);
    },
  });
}

/** `DELETE /org/invitations/{id}`: invalidates its link. */
function deleteInvitation(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/org/invitations/:id',
    schema: { operationId: 'deleteInvitation', tags, params: IdParams, response: { 204: NoContent } },
    handler: async (request, reply) => {
      rejectPrograms(request, 'change invitations');
      const removed = await store.invitations.remove(organizationOf(request), request.params.id);
      requireFound(removed, 'Invitation not found; it was accepted, withdrawn or has expired');
      return reply.code(204).send();
    },
  });
}

const REFUSAL = 'This key is for one project; use an organization-wide key';

const organizationOf = (request: FastifyRequest): string =>
  organizationWideCallerOf(request, REFUSAL).scope.organizationId;

function presentMember({ user, role, createdAt }: MemberRecord): Member {
  return { ...user, role, created_at: createdAt.toISOString() };
}

function presentInvitation({ id, email, role, invitedBy, createdAt, expiresAt }: InvitationRecord): Invitation {
  return {
    id,
    email,
    role,
    invited_by: invitedBy,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  };
}
