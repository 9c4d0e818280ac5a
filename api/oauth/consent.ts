import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import { z } from 'zod';
import { HoldfastError, type ErrorCode } from '../../contract/errors.ts';
import { OAUTH_SCOPES, OAuthAccess } from '../../contract/oauth.ts';
import type { UserSessionRecord } from '../../store/queries/user-sessions.ts';
import type { ApiServer } from '../context.ts';
import { entitlementsOf, requireProjects } from '../organization/entitlements.ts';
import type { ApiParts } from '../parts.ts';
import { consoleTokenOf } from '../people/console-cookie.ts';
import { languageOf } from '../html/error-pages.ts';
import { sendStaticPage } from '../html/static-page.ts';
import { issuerOf, OAUTH_PATHS, resourcesOf } from './addresses.ts';
import { consentPage, signInPage } from './pages.ts';
import type { ConsentRefusal } from './words.ts';

const Params = z.object({ uid: z.string().min(1).max(100) });
const Answer = z.object({
  answer: z.enum(['allow', 'deny']),
  access: OAuthAccess.default('read'),
  project: z.string().max(200).default(''),
});
/** Relevant parameters of an authorization request. */
const RequestParams = z.object({
  client_id: z.string(),
  redirect_uri: z.string(),
  scope: z.string().default(''),
  resource: z.union([z.string(), z.array(z.string())]).optional(),
});

/** The consent page, on which a person lets a program act for them: `GET` shows it, `POST` submits the answer. */
export function registerConsent(app: ApiServer, parts: ApiParts, providerOf: () => Promise<Provider>): void {
  const { store, settings } = parts;
  const url = `${OAUTH_PATHS.consent}/:uid`;
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(body.toString()))),
  );
  app.get(url, { schema: { params: Params } }, async (request, reply) => {
    const provider = await providerOf();
    const asked = await readRequest(provider, request, reply);
    const session = await sessionOf(request, parts);
    if (session === null)
      return sendStaticPage(reply, signInPage(request.url.split('?', 1)[0] ?? '', languageOf(request)));
    const { projects: hasProjects } = await entitlementsOf(parts, session.organizationId);
    const projects = hasProjects ? await store.projects.list(session.organizationId) : [];
    const organizations = await store.memberships.ofUser(session.user.id);
    const organization = organizations.find(({ id }) => id === session.organizationId)?.name;
    const view = {
      client: asked.clientName,
      redirectUri: asked.redirectUri,
      person: session.user.email,
      organization: organization ?? session.organizationId,
      projects: projects.filter(({ archivedAt }) => archivedAt === null),
      accesses: asked.accesses,
    };
    return sendStaticPage(reply, consentPage(view, languageOf(request)));
  });
  app.post(url, { schema: { params: Params, body: Answer } }, async (request, reply) => {
    // The cookie proves that the person's browser sent it, not that our page did.
    if (request.headers.origin !== new URL(settings.publicUrl).origin)
      throw refusal('forbidden', 'consent_foreign_page', 'Consent can only be given on the consent page');
    const provider = await providerOf();
    const asked = await readRequest(provider, request, reply);
    const session = await sessionOf(request, parts);
    if (session === null) return sendStaticPage(reply, signInPage(request.url, languageOf(request)));
    const { answer, access, project } = request.body;
    if (answer === 'deny') {
      return finish(provider, request, reply, {
        error: 'access_denied',
        error_description: 'The person denied access',
      });
    }
    if (!asked.accesses.includes(access))
      throw new HoldfastError('bad_request', 'The program did not request this access');
    const projectId = project === '' ? null : project;
    const inOrganization = { organizationId: session.organizationId, projectId: null };
    if (projectId !== null) await requireProjects(parts, session.organizationId);
    if (projectId !== null && (await store.projects.find(inOrganization, projectId)) === null)
      throw refusal('bad_request', 'consent_no_project', 'The project no longer exists');
    const grantId = await saveGrant(provider, session, asked, access);
    await store.oauthGrants.create({
      id: grantId,
      organizationId: session.organizationId,
      userId: session.user.id,
      projectId,
      access,
      clientId: asked.clientId,
      clientName: asked.clientName,
    });
    request.auditPrincipal = {
      scope: { organizationId: session.organizationId, projectId },
      strategy: 'dashboard',
      userId: session.user.id,
      email: session.user.email,
    };
    return finish(provider, request, reply, {
      login: { accountId: session.user.id, remember: false },
      consent: { grantId },
    });
  });

  async function readRequest(provider: Provider, request: FastifyRequest, reply: FastifyReply) {
    const { uid } = Params.parse(request.params);
    const interaction = await provider.interactionDetails(request.raw, reply.raw).catch(() => null);
    if (interaction === null || interaction.uid !== uid)
      throw refusal('gone', 'consent_expired', 'This request has expired or was already answered');
    const { client_id: clientId, redirect_uri: redirectUri, scope, resource } = RequestParams.parse(interaction.params);
    const client = await provider.Client.find(clientId);
    if (client === undefined) throw refusal('gone', 'consent_unknown_program', 'This program is no longer registered');
    const accesses: OAuthAccess[] = scope.split(' ').includes('write') ? ['all', 'read'] : ['read'];
    const fallback = resourcesOf(issuerOf(settings.publicUrl))[0];
    const resources = resource === undefined ? [fallback] : [resource].flat();
    return { clientId, clientName: client.clientName ?? clientId, redirectUri, accesses, resources };
  }
}

/** Saves the provider's own grant. Denied scopes are recorded as rejected, so that the person is not asked again. */
async function saveGrant(
  provider: Provider,
  session: UserSessionRecord,
  { clientId, resources }: { clientId: string; resources: string[] },
  access: OAuthAccess,
): Promise<string> {
  const grant = new provider.Grant({ accountId: session.user.id, clientId });
  const allowed = access === 'all' ? OAUTH_SCOPES.join(' ') : 'read';
  grant.addOIDCScope(`${allowed} offline_access`);
  for (const resource of resources) grant.addResourceScope(resource, allowed);
  if (access !== 'all') {
    grant.rejectOIDCScope('write');
    for (const resource of resources) grant.rejectResourceScope(resource, 'write');
  }
  return grant.save();
}

async function finish(
  provider: Provider,
  request: FastifyRequest,
  reply: FastifyReply,
  result: Parameters<Provider['interactionResult']>[2],
): Promise<FastifyReply> {
  const next = await provider.interactionResult(request.raw, reply.raw, result, { mergeWithLastSubmission: false });
  return reply.redirect(next, 303);
}

async function sessionOf(
  request: FastifyRequest,
  { store, settings }: Pick<ApiParts, 'store' | 'settings'>,
): Promise<UserSessionRecord | null> {
  const token = consoleTokenOf(request, settings.publicUrl);
  return token === null ? null : store.userSessions.authenticate(token);
}

function refusal(code: ErrorCode, reason: ConsentRefusal, message: string): HoldfastError {
  const advice = `${message}; start again from the program`;
  return new HoldfastError(code, advice, { innerError: { code: reason, message } });
}
