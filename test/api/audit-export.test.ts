import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { AuditExportDestination } from '../../contract/audit-export.ts';
import type { AuditExports } from '../../api/context.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { DEFAULT_PROJECT_ID } from '../../store/store.ts';
import { useService } from './service-fixture.ts';

const auditExports = { wake: vi.fn<AuditExports['wake']>(), test: vi.fn<AuditExports['test']>() };
const fixture = useService({ auditExports });
beforeEach(() => {
  auditExports.wake.mockReset().mockResolvedValue();
  auditExports.test.mockReset();
});

const PATH = '/audit-logs/export/destinations';
const BODY = {
  type: 's3',
  format: 'jsonl.gz',
  region: 'eu-central-1',
  bucket: 'audit-of-us',
  prefix: 'holdfast',
  role_arn: 'arn:aws:iam::999988887777:role/deliver',
};

async function create(more: object = {}): Promise<AuditExportDestination> {
  const answer = await fixture().call('POST', PATH, { ...BODY, ...more });
  expect(answer.statusCode).toBe(201);
  return answer.json();
}

describe('export destinations', () => {
  it('creates, lists, reads, updates and deletes destinations, and notifies the workflow of each change', async () => {
    const { call } = fixture();
    const made = await create({ kms_key_id: 'alias/audit' });
    expect(made).toEqual({
      ...BODY,
      id: expect.stringMatching(/^aed_/) as string,
      external_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      service_role_arn: 'arn:aws:iam::111122223333:role/holdfast',
      kms_key_id: 'alias/audit',
      status: 'active',
      consecutive_failures: 0,
      created_at: expect.any(String) as string,
      updated_at: expect.any(String) as string,
    });
    const other = await create({ prefix: '', kms_key_id: '' });
    expect(other).not.toHaveProperty('kms_key_id');
    expect(other.external_id).not.toBe(made.external_id);
    const listed = await call('GET', `${PATH}?limit=1`);
    expect([listed.json(), listed.headers['x-has-more']]).toEqual([[other], 'true']);
    expect((await call('GET', `${PATH}/${made.id}`)).json()).toEqual(made);

    const changed = await call('PATCH', `${PATH}/${made.id}`, {
      bucket: 'elsewhere',
      region: 'us-east-1',
      prefix: 'p',
    });
    expect(changed.json()).toMatchObject({
      bucket: 'elsewhere',
      region: 'us-east-1',
      prefix: 'p',
      role_arn: BODY.role_arn,
    });
    expect((await call('PATCH', `${PATH}/${made.id}`, { kms_key_id: null })).json()).toHaveProperty('kms_key_id');
    expect((await call('PATCH', `${PATH}/${made.id}`, { status: 'active' })).json()).toHaveProperty('kms_key_id');
    expect((await call('PATCH', `${PATH}/${made.id}`, { kms_key_id: '' })).json()).not.toHaveProperty('kms_key_id');
    expect((await call('PATCH', `${PATH}/${made.id}`, { status: 'paused' })).json()).toMatchObject({
      status: 'paused',
    });

    for (const { id } of [made, other]) {
      expect((await call('DELETE', `${PATH}/${id}`)).statusCode).toBe(204);
      for (const method of ['GET', 'DELETE'] as const)
        expect((await call(method, `${PATH}/${id}`)).statusCode).toBe(404);
    }
    expect((await call('PATCH', `${PATH}/${made.id}`, {})).statusCode).toBe(404);
    expect((await call('POST', `${PATH}/${made.id}/test`)).statusCode).toBe(404);
    expect(auditExports.wake).toHaveBeenCalledTimes(9);
  });

  it.each<[string, object]>([
    ['type', { type: 'gcs' }],
    ['format', { format: 'jsonl' }],
    ['region', { region: '' }],
    ['region', { region: 'x'.repeat(129) }],
    ['region', { region: 'evil.example/' }],
    ['bucket', { bucket: 'ab' }],
    ['bucket', { bucket: 'b'.repeat(64) }],
    ['bucket', { bucket: 'a/b' }],
    ['prefix', { prefix: 'p'.repeat(513) }],
    ['role_arn', { role_arn: '' }],
    ['role_arn', { role_arn: 'r'.repeat(2049) }],
    ['kms_key_id', { kms_key_id: 'k'.repeat(2049) }],
    ['external_id', { external_id: 'mine' }],
    ['prefix', { prefix: undefined }],
  ])('are refused for a wrong %s: %j', async (field, wrong) => {
    const { call } = fixture();
    const answer = await call('POST', PATH, { ...BODY, ...wrong });
    expect([answer.statusCode, answer.body]).toEqual([400, expect.stringContaining(field)]);
    if (field === 'type' || field === 'format' || Object.values(wrong)[0] === undefined) return;
    const { id } = await create();
    const patched = await call('PATCH', `${PATH}/${id}`, wrong);
    expect([patched.statusCode, patched.body]).toEqual([400, expect.stringContaining(field)]);
  });

  it('accepts values of maximum length, and rejects changes of immutable settings', async () => {
    const longest = {
      region: 'r'.repeat(128),
      bucket: 'b'.repeat(63),
      prefix: 'p'.repeat(512),
      role_arn: 'a'.repeat(2048),
      kms_key_id: 'k'.repeat(2048),
    };
    const { id, ...made } = await create(longest);
    expect(made).toMatchObject(longest);
    for (const wrong of [{ type: 's3' }, { status: 'deleted' }, { id: 'x' }])
      expect((await fixture().call('PATCH', `${PATH}/${id}`, wrong)).statusCode).toBe(400);
  });

  it('hides destinations from keys of a project or of another organization', async () => {
    const { call, app, store } = fixture();
    const { id } = await create();
    const key = (await call('POST', '/org/api_keys', { name: 'p', project_id: DEFAULT_PROJECT_ID })).json<{
      key: string;
    }>();
    const ofProject = { authorization: `Bearer ${key.key}` };
    const requests = [
      ['POST', PATH, BODY],
      ['GET', PATH],
      ['GET', `${PATH}/${id}`],
      ['PATCH', `${PATH}/${id}`, {}],
      ['DELETE', `${PATH}/${id}`],
      ['POST', `${PATH}/${id}/test`],
    ] as const;
    for (const [method, url, payload] of requests)
      expect((await call(method, url, payload, ofProject)).statusCode).toBe(403);

    await store.organizations.create({ id: 'org_other', name: 'Other', plan: 'free' });
    const otherKey = 'an-organization-wide-key-of-another-organization';
    await store.apiKeys.register('org_other', otherKey, {
      name: 'other',
      createdBy: { id: 'usr_other', email: 'other@holdfast.invalid', name: null },
    });
    const headers = { authorization: `Bearer ${otherKey}` };
    expect((await app.inject({ url: PATH, headers })).json()).toEqual([]);
    expect((await app.inject({ url: `${PATH}/${id}`, headers })).statusCode).toBe(404);
    expect((await app.inject({ method: 'DELETE', url: `${PATH}/${id}`, headers })).statusCode).toBe(404);
  });

  it('tests a destination the way exports use it', async () => {
    const { call } = fixture();
    const { id, external_id: externalId } = await create();
    const error = { code: 'put_object_failed', message: 'The object could not be put: access is denied' } as const;
    for (const result of [
      { success: true, stage: 'complete' },
      { success: false, stage: 'put_object', error },
    ] as const) {
      auditExports.test.mockResolvedValueOnce(result);
      expect((await call('POST', `${PATH}/${id}/test`)).json()).toEqual(result);
    }
    expect(auditExports.test.mock.calls[0]?.[0]).toMatchObject({ id, externalId, bucket: BODY.bucket });
  });

  it('creates a destination while Temporal is unavailable', async () => {
    auditExports.wake.mockRejectedValue(new HoldfastError('unavailable', 'Temporal does not answer'));
    await create();
  });

  it('shows the progress of an export, whose cursor is not a page token', async () => {
    const { call, store } = fixture();
    const made = await create();
    const activation = { id: made.id, activation: 1 };
    const at = new Date(Date.now() + 60_000);
    await store.auditExportDestinations.advance(activation, { at, seq: 7 }, at);
    await store.auditExportDestinations.fail(activation, { error: 'why', at, nextAttemptAt: at });
    const shown = (await call('GET', `${PATH}/${made.id}`)).json<AuditExportDestination>();
    const time = at.toISOString();
    expect(shown).toMatchObject({
      consecutive_failures: 1,
      last_error: 'why',
      last_error_at: time,
      last_success_at: time,
      next_attempt_at: time,
    });
    const cursor = shown.last_exported_cursor ?? '';
    expect(cursor).toMatch(/^[\w-]+$/);
    const span = 'start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z';
    expect((await call('GET', `/audit-logs?${span}&page_token=${cursor}`)).statusCode).toBe(400);
    expect((await call('GET', `/audit-logs/export/chunk?${span}&cursor=${cursor}`)).statusCode).toBe(400);
    // Forward only.
    await store.auditExportDestinations.advance(activation, { at, seq: 6 }, at);
    expect((await call('GET', `${PATH}/${made.id}`)).json()).toMatchObject({ last_exported_cursor: cursor });
  });
});
