import { importJWK, SignJWT } from 'jose';
import { issuerOf } from '../../api/oauth/addresses.ts';
import { GRANT_CLAIM } from '../../api/oauth/provider.ts';
import { createSigningKeys, SIGNING_ALG } from '../../api/oauth/signing-keys.ts';
import { signedIn } from './oauth/person.ts';
import type { Credential } from './scope-lines.ts';
import { API_KEY, type ServiceFixture } from './service-fixture.ts';

/** Ids of two projects of an organization, and of a connection of the first. */
export interface Places {
  project: string;
  otherProject: string;
  connection: string;
}

/** The headers of each kind of caller, and the id of the grant of the OAuth client among them. */
export async function makeCallers(
  fixture: ServiceFixture,
  { project, otherProject, connection }: Places,
): Promise<{ headers: Record<Credential, Record<string, string>>; grant: string; member: string }> {
  const { app, call, store, deps } = fixture;
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const person = async (name: 'owner' | 'operator' | 'viewer') => {
    const { id, cookie } = await signedIn(fixture, `${name}@example.com`, name);
    return { id, headers: { cookie, origin: deps.settings.publicUrl, 'x-holdfast-page': '1' } };
  };
  const keyOf = async (projectId: string) =>
    (await call('POST', '/org/api_keys', { name: 'k', project_id: projectId })).json<{ key: string }>().key;

  await store.organizations.create({ id: 'org_two', name: 'Two', plan: 'enterprise' });
  await store.projects.create('org_two', { name: 'Main' });
  const createdBy = { id: 'usr_two', email: 'two@example.com', name: null };
  const foreign = { name: 'two', expiresAt: null, projectId: null, createdBy };
  const { key: foreignKey } = await store.apiKeys.create({ organizationId: 'org_two', projectId: null }, foreign);

  const login = (await call('POST', `/auth/connections/${connection}/login`)).json<{ handoff_code: string }>();
  const exchange = { method: 'POST', url: `/auth/connections/${connection}/exchange` } as const;
  const exchanged = await app.inject({ ...exchange, payload: { code: login.handoff_code } });
  const codes = await call('POST', `/auth/connections/${connection}/codes/tokens`);

  const owner = await person('owner');
  const grant = 'grant_of_the_matrix';
  await store.oauthGrants.create({
    id: grant,
    organizationId: 'org_default',
    userId: owner.id,
    projectId: project,
    access: 'all',
    clientId: 'client',
    clientName: 'A program',
  });
  return {
    grant,
    member: (await signedIn(fixture, 'member@example.com', 'viewer')).id,
    headers: {
      organization: bearer(API_KEY),
      project: bearer(await keyOf(project)),
      'other project': bearer(await keyOf(otherProject)),
      'other organization': bearer(foreignKey),
      'hosted page': bearer(exchanged.json<{ jwt: string }>().jwt),
      'code token': bearer(codes.json<{ token: string }>().token),
      owner: owner.headers,
      operator: (await person('operator')).headers,
      viewer: (await person('viewer')).headers,
      program: bearer(await accessToken(fixture, owner.id, grant)),
      nobody: {},
      stranger: bearer('a-key-that-nobody-has-ever-made'),
    },
  };
}

/** An access token for a grant, signed as by the authorization server. */
async function accessToken({ deps }: ServiceFixture, userId: string, grant: string): Promise<string> {
  const [key] = await createSigningKeys(deps).current();
  if (key === undefined) throw new Error('There is no key to sign with.');
  const issuer = issuerOf(deps.settings.publicUrl);
  return new SignJWT({ [GRANT_CLAIM]: grant, scope: 'read write' })
    .setProtectedHeader({ alg: SIGNING_ALG, typ: 'at+jwt', kid: key.kid })
    .setIssuer(issuer)
    .setAudience(issuer)
    .setSubject(userId)
    .setExpirationTime('1h')
    .sign(await importJWK(key, SIGNING_ALG));
}
