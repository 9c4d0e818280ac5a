import type { InjectOptions } from 'fastify';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makeCallers } from './scope-callers.ts';
import {
  CONFIRMED,
  LINES,
  roleFor,
  type Credential,
  type Held,
  type Line,
  type OfOrganization,
} from './scope-lines.ts';
import { useService } from './service-fixture.ts';

const fixture = useService();

const Method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
/** What one project holds: ids by what they are of. */
type Holding = Record<Held | 'delivery', string>;

const KEYS = ['organization', 'project', 'other project', 'other organization'] as const;
const TOKENS = ['hosted page', 'code token'] as const;
const PEOPLE = ['viewer', 'operator', 'owner'] as const;
let headers: Record<Credential, Record<string, string>>;
let mine: Holding;
let theirs: Holding;
let ofOrganization: Record<OfOrganization, string>;
let routes: string[] = [];

beforeAll(async () => {
  const { app, call, store } = fixture();
  const document = (await app.inject('/openapi.json')).json<{ paths: Record<string, Record<string, unknown>> }>();
  routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  mine = await fill('mine');
  theirs = await fill('theirs');
  const callers = await makeCallers(fixture(), { ...mine, otherProject: theirs.project });
  ({ headers } = callers);
  const provider = { name: 'kept', provider_type: 'onepassword', token: 'ops_kept' };
  const destination = {
    region: 'eu-west-1',
    bucket: 'bucket',
    prefix: '',
    role_arn: 'arn:aws:iam::123456789012:role/x',
  };
  ofOrganization = {
    credentialProvider: (await call('POST', '/org/credential_providers', provider)).json<{ id: string }>().id,
    oauthGrant: callers.grant,
    member: callers.member,
    invitation: (await call('POST', '/org/invitations', { email: 'kept@example.com', role: 'viewer' })).json<{
      id: string;
    }>().id,
    exportDestination: (await store.auditExportDestinations.create('org_default', { ...destination, kms_key_id: null }))
      .id,
  };
});

/** A project with one of everything. */
async function fill(name: string): Promise<Holding> {
  const { call, store } = fixture();
  const { id: project } = (await call('POST', '/org/projects', { name })).json<{ id: string }>();
  const scope = { organizationId: 'org_default', projectId: project };
  const make = async (url: string, body: object): Promise<string> => {
    const made = await call('POST', url, body, { 'x-kernel-project-id': project });
    expect([url, made.statusCode]).toEqual([url, url.endsWith('/test') ? 202 : 201]);
    return made.json<{ id: string }>().id;
  };
  const program = { entrypoint: 'index.mjs', envVars: {}, version: 'latest', force: false, archive: Buffer.of(1) };
  const { id: deployment } = await store.deployments.create(scope, program);
  await store.deployments.begin(deployment);
  await store.deployments.finish(deployment, [{ name, actions: [{ name: 'run' }] }]);
  const action = { appName: name, version: 'latest', actionName: 'run', payload: null, retries: 0, timeoutSeconds: 60 };
  const webhook = await make('/webhooks', { url: `https://${name}.example/hook` });
  return {
    project,
    deployment,
    webhook,
    delivery: await make(`/webhooks/${webhook}/test`, {}),
    invocation: (await store.invocations.create(scope, action)).id,
    connection: await make('/auth/connections', { domain: `${name}.example`, profile_name: name }),
    profile: await make('/profiles', { name: `${name} too` }),
    credential: await make('/credentials', {
      name,
      domain: `${name}.example`,
      values: { user: 'ann' },
      totp_secret: 'JBSWY3DPEHPK3PXP',
    }),
    proxy: await make('/proxies', { name, type: 'custom', config: { host: 'proxy.example', port: 3128 } }),
    apiKey: await make('/org/api_keys', { name, project_id: project }),
    extension: (await store.extensions.create(scope, { name, archive: Buffer.of(1) })).id,
    codeSource: await make('/code_sources', { type: 'twilio', secret: 'of the provider' }),
  };
}

/** What stands in the path: the id of what the line is about. */
function nameOf(line: Line | null, holding: Holding): string {
  switch (line?.kind) {
    case 'one':
      return holding[line.of];
    case 'wide':
    case 'shared':
    case 'grants':
      return line.of === undefined ? 'x' : ofOrganization[line.of];
    default:
      return 'x';
  }
}

/** Asks as somebody, for what one project holds, or for a thing of the organization. */
async function ask(route: string, line: Line | null, as: Credential, holding: Holding) {
  const [method = '', pattern = ''] = route.split(' ');
  const id = nameOf(line, holding);
  const path = pattern.replace('{delivery_id}', holding.delivery).replaceAll(/\{\w+\}/g, id);
  const query = line !== null && 'query' in line ? `?${line.query ?? ''}` : '';
  const options: InjectOptions = {
    method: Method.parse(method),
    url: `${path}${query}`,
    headers: headers[as],
    ...(line !== null && 'body' in line ? { payload: line.body } : {}),
  };
  // Some never end by themselves.
  if (!path.endsWith('/events')) {
    const answer = await fixture().app.inject(options);
    return { status: answer.statusCode, text: answer.body };
  }
  const answer = await fixture().app.inject({ ...options, payloadAsStream: true });
  answer.stream().destroy();
  return { status: answer.statusCode, text: '' };
}

/** A credential, and the statuses that it may get. */
type Refusal = [Credential, number[]];

/** Who is refused on a line, with which statuses, asking for what is mine. */
function refusedOn(route: string, line: Line): Refusal[] {
  if (line.kind === 'public' || line.kind === 'sign-in') return [];
  if (line.kind === 'session')
    return [
      ...(['nobody', 'stranger'] as const).map((as): Refusal => [as, [401]]),
      ...([...KEYS, ...TOKENS, 'program'] as const).map((as): Refusal => [as, [403]]),
    ];
  const keys = refusedKeys(line);
  const needed = PEOPLE.indexOf(roleFor(route));
  const people = PEOPLE.filter((_, rank) => rank < needed).map((as): Refusal => [as, [403]]);
  // A client is for the project alone, as a key of it, and is an operator at most.
  const isRefusedToProject = line.kind !== 'grants' && keys.some(([as]) => as === 'project');
  const toProgram = isRefusedToProject || needed > 1 || CONFIRMED.includes(route);
  return [...keys, ...people, ...(toProgram ? [['program', [403]] satisfies Refusal] : [])];
}

function refusedKeys(line: Exclude<Line, { kind: 'public' | 'session' | 'sign-in' }>): Refusal[] {
  const beside = line.kind === 'one' ? line.beside : undefined;
  const always: Refusal[] = [
    ['nobody', [401]],
    ['stranger', [401]],
    ...TOKENS.filter((token) => token !== beside).map((token): Refusal => [token, [403]]),
  ];
  const otherOrganization: Refusal = ['other organization', [404]];
  switch (line.kind) {
    case 'own':
    case 'list':
      return always;
    case 'shared':
      return [...always, otherOrganization];
    case 'wide':
    case 'grants': {
      const projects: Refusal[] = [
        ['project', [403]],
        ['other project', [403]],
      ];
      return [...always, ...projects, ...(line.of === undefined ? [] : [otherOrganization])];
    }
    case 'one':
      return line.wideOnly === true
        ? [...always, ['project', [403]], ['other project', [403, 404]], otherOrganization]
        : [...always, ['other project', [404]], otherOrganization];
  }
}

describe('every operation of the document', () => {
  const isPassedOn = (route: string) => /^\w+ \/browser/.test(route);
  // What removes things comes after what needs them.
  const lines = () =>
    Object.entries(LINES).toSorted(
      ([one], [other]) => Number(one.startsWith('DELETE')) - Number(other.startsWith('DELETE')),
    );

  it('has a line in the matrix, and every line an operation', () => {
    expect(routes.filter((route) => !isPassedOn(route)).toSorted()).toEqual(Object.keys(LINES).toSorted());
  });

  it('rejects callers without access, and leaks nothing of others', async () => {
    const wrong: string[] = [];
    for (const [route, line] of lines())
      for (const [as, expected] of refusedOn(route, line)) {
        const { status, text } = await ask(route, line, as, mine);
        if (!expected.includes(status)) wrong.push(`${route} as ${as}: ${status} ${text}`);
      }
    // What is of the other project is as far for a key, and for the tokens of a connection of this one.
    for (const [route, line] of lines()) {
      if (line.kind !== 'one') continue;
      for (const as of ['project', 'program'] as const) {
        const { status, text } = await ask(route, line, as, theirs);
        const mayBeRefused = refusedOn(route, line).some(([one]) => one === as);
        if (status !== 404 && !(mayBeRefused && status === 403))
          wrong.push(`${route} as ${as}, theirs: ${status} ${text}`);
      }
      if (line.beside === undefined) continue;
      const token = await ask(route, line, line.beside, theirs);
      if (token.status !== 403) wrong.push(`${route} as ${line.beside}, theirs: ${token.status}`);
    }
    expect(wrong).toEqual([]);
  });

  it('forwards browser calls for keys, and for people with access', async () => {
    const wrong: string[] = [];
    for (const route of routes.filter(isPassedOn)) {
      for (const as of ['organization', 'project', 'operator'] as const) {
        const { status } = await ask(route, null, as, mine);
        if (status !== 502) wrong.push(`${route} as ${as}: ${status}`);
      }
      for (const as of ['hosted page', 'viewer', 'nobody'] as const) {
        const { status } = await ask(route, null, as, mine);
        const expected = as === 'nobody' ? 401 : 403;
        if (status !== expected) wrong.push(`${route} as ${as}: ${status}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('serves callers with access, within their own scope', async () => {
    const wrong: string[] = [];
    const foreignTo: Partial<Record<Credential, string[]>> = {
      program: Object.values(theirs),
      project: Object.values(theirs),
      'other project': Object.values(mine),
      'other organization': [...Object.values(mine), ...Object.values(theirs), ...Object.values(ofOrganization)],
    };
    const seen = async (route: string, line: Line, as: Credential, holding: Holding) => {
      const { status, text } = await ask(route, line, as, holding);
      const refusals = line.kind === 'own' ? [401, 403] : [401, 403, 404];
      if (refusals.includes(status)) wrong.push(`${route} as ${as}: ${status} ${text}`);
      const leaked = foreignTo[as]?.filter((id) => text.includes(id)) ?? [];
      if (leaked.length > 0) wrong.push(`${route} as ${as} shows ${leaked.join(', ')}`);
      return text;
    };
    for (const [route, line] of lines()) {
      const refused = refusedOn(route, line).map(([as]) => as);
      // A thing is removed once, by a key below.
      if (!['public', 'session', 'sign-in'].includes(line.kind) && !route.startsWith('DELETE'))
        for (const as of [...PEOPLE, 'program'] as const) if (!refused.includes(as)) await seen(route, line, as, mine);
      switch (line.kind) {
        case 'public':
        case 'session':
        case 'sign-in':
          break;
        case 'own':
          for (const as of KEYS) await seen(route, line, as, mine);
          break;
        case 'wide':
        case 'shared':
        case 'grants':
          for (const as of KEYS) if (!refused.includes(as)) await seen(route, line, as, mine);
          break;
        case 'list': {
          const [all, own, others] = [
            await seen(route, line, 'organization', mine),
            await seen(route, line, 'project', mine),
            await seen(route, line, 'other project', mine),
          ];
          await seen(route, line, 'other organization', mine);
          for (const [text, id] of [
            [all, mine[line.of]],
            [all, theirs[line.of]],
            [own, mine[line.of]],
            [others, theirs[line.of]],
          ] as const)
            if (!text.includes(id)) wrong.push(`${route} does not list ${id}`);
          break;
        }
        case 'one': {
          await seen(route, line, 'organization', theirs);
          if (line.wideOnly) break;
          if (line.beside !== undefined) {
            const { status } = await ask(route, line, line.beside, mine);
            if ([401, 403, 404].includes(status)) wrong.push(`${route} as ${line.beside}: ${status}`);
          }
          await seen(route, line, 'project', mine);
          break;
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it('allows sessions for people of every role, and nobody else', async () => {
    const wrong: string[] = [];
    for (const [route, line] of lines()) {
      // The one that ends it comes last, below.
      if (line.kind !== 'session' || route === 'DELETE /session') continue;
      for (const as of PEOPLE) {
        const { status, text } = await ask(route, line, as, mine);
        if (status !== line.people) wrong.push(`${route} as ${as}: ${status} ${text}`);
      }
    }
    for (const as of PEOPLE)
      for (const status of [204, 401]) {
        const answer = await ask('DELETE /session', null, as, mine);
        if (answer.status !== status) wrong.push(`DELETE /session as ${as}: ${answer.status} ${answer.text}`);
      }
    expect(wrong).toEqual([]);
  });

  it('starts sessions from its own pages only, without a credential', async () => {
    const wrong: string[] = [];
    const { app, deps } = fixture();
    const ofPage = { origin: deps.settings.publicUrl, 'x-holdfast-page': '1' };
    for (const [route, line] of lines()) {
      if (line.kind !== 'sign-in') continue;
      for (const as of [...KEYS, ...TOKENS, 'program', 'nobody', 'stranger'] as const) {
        const { status, text } = await ask(route, line, as, mine);
        if (status !== 403) wrong.push(`${route} as ${as}: ${status} ${text}`);
      }
      for (const as of ['nobody', 'organization'] as const) {
        const answer = await app.inject({
          method: 'POST',
          url: route.split(' ')[1] ?? '',
          headers: { ...headers[as], ...ofPage },
          ...(line.body === undefined ? {} : { payload: line.body }),
        });
        const isBegun = answer.headers['set-cookie'] !== undefined;
        if (answer.statusCode !== line.answers || isBegun)
          wrong.push(`${route} as ${as}: ${answer.statusCode} ${answer.body}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
