import { describe, expect, it } from 'vitest';
import type { TimelineEvent } from '../../contract/connections.ts';
import { addConnection, documentOf, runOnce, SCOPE, useStore } from './databases.ts';

const EVENT: TimelineEvent = {
  id: 'evt_1',
  type: 'login',
  status: 'IN_PROGRESS',
  timestamp: '2026-01-01T00:00:00.000Z',
};

describe('connections', () => {
  const context = useStore();

  it('lets one of fifty concurrent inserts for a profile and domain win, and returns its id to the others', async () => {
    const { store } = context();
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const id = `conn_race_${index}`;
        const row = { ...SCOPE, id, profileName: 'race', domain: 'race.example', revision: 1 };
        return store.connections
          .insert({ ...row, document: documentOf(id, 1), createdAt: new Date() })
          .then((answer) => ({ id, answer }));
      }),
    );
    const winners = outcomes.filter(({ answer }) => answer.outcome === 'inserted');
    expect(winners).toHaveLength(1);
    for (const { answer } of outcomes) if (answer.outcome === 'exists') expect(answer.existingId).toBe(winners[0]?.id);
  });

  it('returns the same result for a repeated insert, as a retried activity requires', async () => {
    const { store } = context();
    const row = { ...SCOPE, id: 'conn_twice', profileName: 'twice', domain: 'twice.example', revision: 1 };
    const insert = () => store.connections.insert({ ...row, document: documentOf(row.id, 1), createdAt: new Date() });
    expect(await insert()).toEqual({ outcome: 'inserted' });
    expect(await insert()).toEqual({ outcome: 'inserted' });
  });

  it('records only newer revisions, with their timeline', async () => {
    const { store } = context();
    const id = await addConnection(store);
    const at = new Date();
    const record = (revision: number, event: TimelineEvent) =>
      store.connections.record({ id, revision, document: documentOf(id, revision), createdAt: at, timeline: [event] });
    expect(await record(3, { ...EVENT, id: `${id}_e` })).toBe(true);
    expect(await record(2, { ...EVENT, id: `${id}_e`, status: 'FAILED' })).toBe(false);
    expect(await record(3, { ...EVENT, id: `${id}_e`, status: 'FAILED' })).toBe(false);
    expect(await record(4, { ...EVENT, id: `${id}_e`, status: 'SUCCESS' })).toBe(true);
    expect((await store.connections.byId(SCOPE, id))?.document.revision).toBe(4);
    expect((await store.connections.statesSince(id, 1)).map((state) => state.revision)).toEqual([3, 4]);
    const { rows } = await store.timeline.list(SCOPE, id, { limit: 10, offset: 0 });
    expect(rows).toEqual([{ ...EVENT, id: `${id}_e`, status: 'SUCCESS' }]);
  });

  it('iterates over all connections in batches, without removed ones', async () => {
    const { store } = context();
    const made = [await addConnection(store), await addConnection(store), await addConnection(store)];
    const [removed = '', ...left] = made;
    await store.connections.remove(SCOPE, removed);
    const seen: string[] = [];
    for (let step = await store.connections.idsAfter(null, 2); step.length > 0;) {
      seen.push(...step);
      step = await store.connections.idsAfter(seen.at(-1) ?? null, 2);
    }
    expect(seen).toEqual([...new Set(seen)].sort());
    expect(seen).toEqual(expect.arrayContaining(left));
    expect(seen).not.toContain(removed);
  });

  it('stores any page text: NUL, lone surrogates, any script', async () => {
    const { store } = context();
    const id = await addConnection(store);
    const said = 'a\u0000b \ud800 ünï 密碼';
    await store.connections.record({
      id,
      revision: 2,
      document: documentOf(id, 2, { post_login_url: said }),
      createdAt: new Date(),
    });
    expect((await store.connections.byId(SCOPE, id))?.document.post_login_url).toBe(said);
  });

  it('retains at least the last 200 states, and not many more', async () => {
    const { store } = context();
    const id = await addConnection(store);
    for (let revision = 2; revision <= 260; revision += 1)
      await store.connections.record({ id, revision, document: documentOf(id, revision), createdAt: new Date() });
    const states = await store.connections.statesSince(id, 0);
    expect(states.length).toBeGreaterThanOrEqual(200);
    expect(states.length).toBeLessThan(220);
    expect(states.at(-1)?.revision).toBe(260);
  });

  it('pages newest first, filters, and matches % and _ of a query literally', async () => {
    const { store } = context();
    const project = await store.projects.create(SCOPE.organizationId, { name: 'lists' });
    const scope = { ...SCOPE, projectId: project.id };
    const ids: string[] = [];
    for (let index = 0; index < 7; index += 1)
      ids.unshift(
        await addConnection(store, {
          scope,
          domain: index < 3 ? 'Shop_A.example' : 'other.example',
          profileName: `Ünna ${index}`,
          createdAt: new Date(1_700_000_000_000 + (index >> 1)),
        }),
      );
    const seen: string[] = [];
    for (let offset = 0, more = true; more; offset += 3) {
      const page = await store.connections.list(scope, { limit: 3, offset });
      seen.push(...page.rows.map((row) => row.id));
      more = page.hasMore;
    }
    expect(new Set(seen)).toEqual(new Set(ids));
    expect(seen).toHaveLength(7);
    const count = async (filter: { query?: string; domain?: string; profileName?: string }) =>
      (await store.connections.list(scope, { limit: 50, offset: 0, ...filter })).rows.length;
    expect(await count({ query: 'SHOP_a' })).toBe(3);
    expect(await count({ query: 'shop%a' })).toBe(0);
    expect(await count({ query: 'ünna' })).toBe(7);
    expect(await count({ query: '\\' })).toBe(0);
    expect(await count({ domain: 'other.example' })).toBe(4);
    expect(await count({ profileName: 'Ünna 2', domain: 'other.example' })).toBe(0);
  });

  it('finds the connections that currently use a credential', async () => {
    const { store } = context();
    const [linked, relinked, removed] = [
      await addConnection(store),
      await addConnection(store),
      await addConnection(store),
    ];
    const link = async (id: string, revision: number, name: string) => {
      const { settings } = documentOf(id, revision);
      const document = documentOf(id, revision, { settings: { ...settings, credential: { name } } });
      await store.connections.record({ id, revision, document, createdAt: new Date() });
    };
    for (const id of [linked, relinked, removed]) await link(id, 2, 'shared/ü');
    await link(relinked, 3, 'another');
    await store.connections.remove(SCOPE, removed);
    const idsOf = async (name: string, scope = SCOPE) =>
      (await store.connections.usingCredential(scope, name)).map(({ id }) => id);
    expect(await idsOf('shared/ü')).toEqual([linked]);
    expect(await idsOf('another')).toEqual([relinked]);
    expect(await idsOf('shared/ü', { ...SCOPE, projectId: 'prj_other' })).toEqual([]);
  });

  it('migrates connections of an older schema, whatever their documents contain', async () => {
    const { store, database } = context();
    const id = await addConnection(store);
    const { settings } = documentOf(id, 2);
    const document = documentOf(id, 2, {
      settings: { ...settings, credential: { name: 'from-before' } },
      post_login_url: 'a\u0000b \ud800',
    });
    await store.connections.record({ id, revision: 2, document, createdAt: new Date() });
    for (const statement of [
      'drop function add_audit_log_partition',
      'alter table audit_log rename to audit_log_months',
      'create table audit_log (like audit_log_months including defaults)',
      'alter table audit_log alter column seq drop default, alter column seq add generated by default as identity',
      'drop table audit_log_months, audit_log_head, audit_log_kinds',
      'create index audit_log_organization on audit_log (organization_id, seq desc)',
      'alter table audit_log drop column previous_seal, drop column seal, drop column written_at, drop column kind',
      'drop table audit_export_destinations',
      'drop table oauth_records, oauth_grants',
      'drop table sign_in_codes, user_sessions, invitations, memberships, user_passkeys, users',
      'drop table check_slots',
      'drop table browser_pools',
      'alter table organizations drop column default_project_max_sessions, drop column projects_disabled',
      'alter table organizations drop column max_auth_connections',
      'alter table projects drop column max_sessions, drop column max_invocations, drop column updated_at',
      'alter table projects drop column archived_at, drop column deleted_at',
      'drop table app_events',
      'drop table invocations',
      'drop table app_versions',
      'drop table deployments',
      'alter table api_keys drop column invocation_id',
      'drop table extensions',
      'alter table credentials drop column sealed_passkeys, drop column passkeys',
      'drop table code_sources',
      'alter table connections drop column code_phone, drop column code_email',
      'drop table webhook_deliveries',
      'drop table webhooks',
      'drop table credential_providers',
      'drop table installation_keys',
      'drop table rate_limits',
      'drop index timeline_events_age',
      'alter table credentials drop column value_origins',
      'drop table recording_parts',
      'drop table recordings',
      'drop table proxies',
      'drop index connections_search',
      'alter table connections drop column credential_name',
      `delete from kysely_migration where name > '0001_initial'`,
    ])
      await runOnce(database.connection, statement);
    await store.migrate();
    expect((await store.connections.usingCredential(SCOPE, 'from-before')).map((row) => row.id)).toEqual([id]);
  });

  it('returns nothing to another project or organization', async () => {
    const { store } = context();
    await store.organizations.create({ id: 'org_other', name: 'Other', plan: 'free' });
    const otherProject = await store.projects.create('org_other', { name: 'theirs' });
    const mine = await addConnection(store, { domain: 'mine.example' });
    await store.connections.record({
      id: mine,
      revision: 2,
      document: documentOf(mine, 2),
      createdAt: new Date(),
      timeline: [{ ...EVENT, id: `${mine}_e` }],
    });
    const sibling = await store.projects.create(SCOPE.organizationId, { name: 'sibling' });
    for (const scope of [
      { organizationId: 'org_other', projectId: null },
      { organizationId: 'org_other', projectId: otherProject.id },
      { organizationId: 'org_other', projectId: SCOPE.projectId },
      { organizationId: SCOPE.organizationId, projectId: sibling.id },
    ]) {
      expect(await store.connections.byId(scope, mine)).toBeNull();
      expect(await store.connections.byProfileAndDomain(scope, 'ann', 'mine.example')).toBeNull();
      expect((await store.connections.list(scope, { limit: 50, offset: 0 })).rows).toEqual([]);
      expect((await store.timeline.list(scope, mine, { limit: 50, offset: 0 })).rows).toEqual([]);
      expect(await store.connections.remove(scope, mine)).toBe(false);
    }
    expect(await store.connections.byId({ ...SCOPE, projectId: null }, mine)).not.toBeNull();
  });

  it('permanently removes everything that belongs to a connection', async () => {
    const { store } = context();
    const id = await addConnection(store, { domain: 'gone.example' });
    const values = { connectionId: id, interactionId: 'int_1', values: { a: 'b' }, expiresAt: inMinutes(5) };
    const { submissionId } = await store.submissions.seal(values);
    const redeem = () => store.handoffs.redeem(Buffer.from('code of the removed'), id, 'flow_1', inMinutes(5));
    expect(await redeem()).toBe(true);
    expect(await store.connections.remove(SCOPE, id)).toBe(true);
    expect(await store.connections.remove(SCOPE, id)).toBe(false);
    expect(await store.connections.byIdUnscoped(id)).toBeNull();
    expect(await store.submissions.open(submissionId)).toBeNull();
    await expect(store.submissions.seal(values)).rejects.toMatchObject({ code: 'not_found' });
    const late = { id, revision: 9, document: documentOf(id, 9), createdAt: new Date() };
    expect(await store.connections.record(late)).toBe(false);
    const again = await addConnection(store, { domain: 'gone.example' });
    expect(again).not.toBe(id);
  });

  describe('timeline', () => {
    it('lists events newest first, by page and type', async () => {
      const { store } = context();
      const id = await addConnection(store);
      const timeline = Array.from({ length: 5 }, (_, index): TimelineEvent => ({
        ...EVENT,
        id: `${id}_${index}`,
        type: index % 2 === 0 ? 'login' : 'health_check',
        timestamp: new Date(1_700_000_000_000 + index).toISOString(),
      }));
      await store.connections.record({
        id,
        revision: 2,
        document: documentOf(id, 2),
        createdAt: new Date(),
        timeline,
      });
      const first = await store.timeline.list(SCOPE, id, { limit: 2, offset: 0 });
      expect(first.rows.map((event) => event.id)).toEqual([`${id}_4`, `${id}_3`]);
      expect(first.hasMore).toBe(true);
      const checks = await store.timeline.list(SCOPE, id, { limit: 2, offset: 0, type: 'health_check' });
      expect(checks).toEqual({ rows: [timeline[3], timeline[1]], hasMore: false });
    });

    it('is swept by age', async () => {
      const { store, open } = context();
      const id = await addConnection(store);
      const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
      const timeline = [9, 11].map((days) => ({ ...EVENT, id: `${id}_${days}`, timestamp: daysAgo(days) }));
      await store.connections.record({ id, revision: 2, document: documentOf(id, 2), createdAt: new Date(), timeline });
      await open({ timelineKeptMs: 10 * 86_400_000 }).sweep();
      const { rows } = await store.timeline.list(SCOPE, id, { limit: 5, offset: 0 });
      expect(rows.map((event) => event.id)).toEqual([`${id}_9`]);
    });
  });
});

function inMinutes(minutes: number): Date {
  return new Date(Date.now() + minutes * 60_000);
}
