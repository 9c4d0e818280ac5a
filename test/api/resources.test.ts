import { gunzipSync } from 'node:zlib';
import Kernel from '@onkernel/sdk';
import { TOTP, Secret } from 'otpauth';
import { describe, expect, it, vi } from 'vitest';
import { AuditLogEntry } from '../../contract/audit-logs.ts';
import { API_KEY, useService } from './service-fixture.ts';

const fixture = useService();
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';

interface TotpAnswer {
  code: string;
  expires_at: string;
}

describe('credentials', () => {
  it('never show values when created, read, listed or patched', async () => {
    const { call, store } = fixture();
    const made = await call('POST', '/credentials', {
      name: 'shop',
      domain: 'Shop.example',
      values: { username: 'ann', password: 'correct horse' },
      totp_secret: 'jbsw y3dp-ehpk 3pxp jbswy3dpehpk3pxp==',
      sso_provider: 'google',
    });
    expect(made.statusCode).toBe(201);
    const body = made.json<{ id: string }>();
    expect(body).toMatchObject({
      name: 'shop',
      domain: 'shop.example',
      has_values: true,
      has_totp_secret: true,
      sso_provider: 'google',
      value_keys: ['username', 'password'],
    });
    const listed = await call('GET', '/credentials?query=SHOP');
    expect(listed.json<object[]>()).toHaveLength(1);
    expect(listed.json<object[]>()[0]).not.toHaveProperty('value_keys');
    const patched = await call('PATCH', '/credentials/shop', {
      remove_value_keys: ['username', 'password'],
      values: { password: 'new horse', pin: '1' },
      sso_provider: '',
      totp_secret: '',
    });
    expect(patched.json()).toMatchObject({ has_totp_secret: false, sso_provider: null });
    expect(patched.json<{ value_keys: string[] }>().value_keys.toSorted()).toEqual(['password', 'pin']);
    for (const { body: text } of [made, listed, patched]) expect(text).not.toMatch(/horse|JBSW/i);
    expect(await store.credentials.open(body.id)).toMatchObject({ values: { password: 'new horse', pin: '1' } });
    expect((await call('GET', '/credentials/shop/totp-code')).statusCode).toBe(404);
    expect((await call('POST', '/credentials', { name: 'shop', domain: 'a.example', values: {} })).statusCode).toBe(
      409,
    );
  });

  it('are found by any name that fits in a path', async () => {
    const { call } = fixture();
    for (const name of ['café/x', 'with space', '100%', 'a?b#c', '日本/語', '...', 'ends/']) {
      const made = await call('POST', '/credentials', { name, domain: 'names.example', values: { a: 'b' } });
      expect(made.statusCode).toBe(201);
      const url = `/credentials/${encodeURIComponent(name)}`;
      expect((await call('GET', url)).json()).toMatchObject({ name });
      expect((await call('PATCH', url, { values: { c: 'd' } })).json()).toMatchObject({ value_keys: ['a', 'c'] });
      expect((await call('DELETE', url)).statusCode).toBe(204);
      expect((await call('GET', url)).statusCode).toBe(404);
    }
    expect((await call('POST', '/credentials', { name: 'café/x', domain: 'a.example', values: {} })).statusCode).toBe(
      201,
    );
    expect((await call('GET', '/credentials/caf%C3%A9%2Fx')).statusCode).toBe(200);
  });

  it('return the current TOTP code', async () => {
    const { call } = fixture();
    await call('POST', '/credentials', { name: 'otp', domain: 'otp.example', values: {}, totp_secret: SECRET });
    const response = await call('GET', '/credentials/otp/totp-code');
    const { code, expires_at: expiresAt } = response.json<{ code: string; expires_at: string }>();
    const end = Date.parse(expiresAt);
    expect(end % 30_000).toBe(0);
    expect(end - Date.now()).toBeLessThanOrEqual(30_000);
    expect(code).toBe(new TOTP({ secret: Secret.fromBase32(SECRET) }).generate({ timestamp: end - 1 }));
  });

  it('accept an otpauth URL, with its period, digits and algorithm', async () => {
    const { call } = fixture();
    const address = `otpauth://totp/Shop:ann?secret=${SECRET.toLowerCase()}&issuer=Shop&period=60&digits=8&algorithm=SHA256`;
    const body = { name: 'by address', domain: 'otp.example', values: {}, totp_secret: address };
    expect((await call('POST', '/credentials', body)).statusCode).toBe(201);
    const told = (await call('GET', '/credentials/by%20address/totp-code')).json<{
      code: string;
      expires_at: string;
    }>();
    const end = Date.parse(told.expires_at);
    expect(end % 60_000).toBe(0);
    const totp = new TOTP({ secret: Secret.fromBase32(SECRET), period: 60, digits: 8, algorithm: 'SHA256' });
    expect(told.code).toBe(totp.generate({ timestamp: end - 1 }));
  });

  it('accept the same settings beside a bare secret', async () => {
    const { call } = fixture();
    const beside = { totp_period: 60, totp_digits: 8, totp_algorithm: 'SHA512' };
    const toldNow = async () =>
      (await call('GET', '/credentials/beside/totp-code')).json<{ code: string; expires_at: string }>();
    const body = { name: 'beside', domain: 'otp.example', values: {}, totp_secret: SECRET, ...beside };
    expect((await call('POST', '/credentials', body)).statusCode).toBe(201);
    const told = await toldNow();
    const end = Date.parse(told.expires_at);
    const totp = new TOTP({ secret: Secret.fromBase32(SECRET), period: 60, digits: 8, algorithm: 'SHA512' });
    expect(told.code).toBe(totp.generate({ timestamp: end - 1 }));
    const address = `otpauth://totp/x?secret=${SECRET}&digits=7`;
    expect((await call('PATCH', '/credentials/beside', { totp_secret: address, totp_digits: 8 })).statusCode).toBe(200);
    expect((await toldNow()).code).toHaveLength(7);
    const alone = await call('PATCH', '/credentials/beside', { totp_digits: 8 });
    expect([alone.statusCode, alone.json<{ message: string }>().message]).toEqual([
      400,
      expect.stringMatching(/^totp_secret: /),
    ]);
  });

  it('keep the settings of an otpauth URL when only the secret changes', async () => {
    const { call } = fixture();
    const address = `otpauth://totp/x?secret=${SECRET}&digits=8&period=60`;
    await call('POST', '/credentials', { name: 'kept', domain: 'otp.example', values: {}, totp_secret: address });
    const told = async (change: object) => {
      expect((await call('PATCH', '/credentials/kept', change)).statusCode).toBe(200);
      const { code, expires_at: at } = (await call('GET', '/credentials/kept/totp-code')).json<TotpAnswer>();
      return { code, end: Date.parse(at) };
    };
    const other = 'KRSXG5CTMVRXEZLUKN2XAZLS';
    const bare = await told({ totp_secret: other });
    const totp = new TOTP({ secret: Secret.fromBase32(other), digits: 8, period: 60 });
    expect(bare.code).toBe(totp.generate({ timestamp: bare.end - 1 }));
    expect((await told({ totp_secret: other, totp_digits: 7 })).code).toHaveLength(7);
    // A whole address says everything; what it leaves out is as usual.
    expect((await told({ totp_secret: `otpauth://totp/x?secret=${other}` })).code).toHaveLength(6);
    await told({ totp_secret: address });
    expect((await call('PATCH', '/credentials/kept', { totp_secret: '' })).statusCode).toBe(200);
    expect((await told({ totp_secret: other })).code).toHaveLength(6);
  });

  it('notify the connections that use them of new values only', async () => {
    const { call, connections } = fixture();
    await call('POST', '/credentials', { name: 'told', domain: 'told.example', values: { a: '1' } });
    const body = { domain: 'told.example', profile_name: 'ann', credential: { name: 'told' } };
    await call('POST', '/auth/connections', body);
    const before = connections.calls.credentialChanged;
    await call('PATCH', '/credentials/told', { values: { a: '2' } });
    expect(connections.calls.credentialChanged).toBe(before + 1);
    await call('PATCH', '/credentials/told', { values: { a: '2' } });
    expect(connections.calls.credentialChanged).toBe(before + 1);
  });

  it.each([
    [
      { name: 'x', domain: 'x.example', values: {}, totp_secret: 'otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP' },
      'totp_secret',
    ],
    [
      { name: 'x', domain: 'x.example', values: {}, totp_secret: 'otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&digits=20' },
      'totp_secret',
    ],
    [{ name: 'x', domain: 'x.example', values: {}, totp_secret: 'not base32 !' }, 'totp_secret'],
    [{ name: 'x', domain: 'x.example', values: {}, totp_secret: 'JBSWY3D' }, 'totp_secret'],
    [{ name: 'x', domain: 'x.example', values: {}, totp_digits: 8 }, 'totp_secret'],
    [{ name: 'x', domain: 'x.example', values: {}, totp_secret: 'JBSWY3DPEHPK3PXP', totp_digits: 9 }, 'totp_digits'],
    [{ name: '', domain: 'x.example', values: {} }, 'name'],
    [{ name: '..', domain: 'x.example', values: {} }, 'name'],
    [{ name: 'x', domain: 'x y', values: {} }, 'domain'],
    [{ name: 'x', domain: 'x.example', values: { a: 1 } }, 'values.a'],
    [{ name: 'x', domain: 'x.example' }, 'values'],
  ])('refuse %j', async (body, field) => {
    const { call } = fixture();
    const response = await call('POST', '/credentials', body);
    expect(response.statusCode).toBe(400);
    expect(response.json<{ details: { message: string }[] }>().details[0]?.message.split(':')[0]).toBe(field);
  });

  it('rename themselves in connections that use them, and unlink when deleted', async () => {
    const { call } = fixture();
    await call('POST', '/credentials', { name: 'linked', domain: 'link.example', values: { a: 'b' } });
    const { id } = (
      await call('POST', '/auth/connections', {
        domain: 'link.example',
        profile_name: 'ann',
        credential: { name: 'linked' },
      })
    ).json<{ id: string }>();
    await call('PATCH', '/credentials/linked', { name: 'renamed' });
    expect((await call('GET', `/auth/connections/${id}`)).json()).toMatchObject({ credential: { name: 'renamed' } });
    expect((await call('DELETE', '/credentials/renamed')).statusCode).toBe(204);
    expect((await call('GET', `/auth/connections/${id}`)).json()).not.toHaveProperty('credential');
  });
});

describe('profiles', () => {
  it('are created, listed, renamed and deleted, but not while a connection uses them', async () => {
    const { call } = fixture();
    const unnamed = await call('POST', '/profiles');
    expect(unnamed.statusCode).toBe(201);
    expect(unnamed.json()).toMatchObject({ name: null, last_used_at: null });
    const made = await call('POST', '/profiles', { name: 'zoë/1' });
    expect((await call('POST', '/profiles', { name: 'zoë/1' })).statusCode).toBe(409);
    const { id } = made.json<{ id: string }>();
    expect((await call('GET', `/profiles/${encodeURIComponent('zoë/1')}`)).json()).toEqual(made.json());
    expect((await call('GET', `/profiles?name=${encodeURIComponent('zoë/1')}`)).json()).toHaveLength(1);
    expect((await call('PATCH', `/profiles/${id}`, { name: 'zoe' })).json()).toMatchObject({ id, name: 'zoe' });
    const connection = await call('POST', '/auth/connections', { domain: 'profile.example', profile_name: 'zoe' });
    expect((await call('DELETE', '/profiles/zoe')).statusCode).toBe(422);
    expect((await call('PATCH', '/profiles/zoe', { name: 'other' })).statusCode).toBe(422);
    await call('DELETE', `/auth/connections/${connection.json<{ id: string }>().id}`);
    expect((await call('DELETE', '/profiles/zoe')).statusCode).toBe(204);
    expect((await call('DELETE', '/profiles/zoe')).statusCode).toBe(404);
  });
});

describe('API keys', () => {
  it('are shown once and masked afterwards, renamed and rotated with a grace period', async () => {
    const { call, app, store } = fixture();
    const made = await call('POST', '/org/api_keys', { name: 'ci', days_to_expire: 30 });
    const { id, key } = made.json<{ id: string; key: string }>();
    expect(key).toMatch(/^hf_live_/);
    expect((await call('PATCH', `/org/api_keys/${id}`, { name: 'cd' })).json()).toMatchObject({ name: 'cd' });
    const listed = await call('GET', '/org/api_keys?query=cd&sort_by=name');
    expect(listed.json()).toMatchObject([{ id, name: 'cd' }]);
    expect(listed.body).not.toContain(key);
    const own = await app.inject({ url: '/auth/context', headers: { authorization: `Bearer ${key}` } });
    expect(own.json()).toMatchObject({ principal: { id } });
    const self = await app.inject({
      method: 'DELETE',
      url: `/org/api_keys/${id}`,
      headers: { authorization: `Bearer ${key}` },
    });
    expect([self.statusCode, self.json<{ code: string }>().code]).toEqual([400, 'cannot_delete_current_key']);
    const rotated = await call('POST', `/org/api_keys/${id}/rotate`);
    expect(rotated.statusCode).toBe(201);
    expect(rotated.json<{ id: string }>().id).not.toBe(id);
    expect(await store.apiKeys.authenticate(key)).not.toBeNull();
    const former = (await call('GET', `/org/api_keys/${id}`)).json<{ expires_at: string }>();
    expect(Date.parse(former.expires_at) - Date.now()).toBeLessThanOrEqual(7 * 86_400_000);
    await call('POST', `/org/api_keys/${id}/rotate`, { expire_in_days: 0, days_to_expire: null });
    expect(await store.apiKeys.authenticate(key)).toBeNull();
    for (const body of [{}, { name: '' }, { name: 'x', days_to_expire: 0 }, { name: 'x', days_to_expire: 3651 }]) {
      expect((await call('POST', '/org/api_keys', body)).statusCode).toBe(400);
    }
  });
});

describe('the audit log', () => {
  it('writes the row before a secret is sent, and withholds the secret without its row', async () => {
    const { call, store } = fixture();
    await call('POST', '/org/api_keys', { name: 'audited' });
    const scope = { organizationId: 'org_default', projectId: null };
    const { rows } = await store.auditLog.page(scope, { limit: 1 });
    expect(rows[0]).toMatchObject({
      method: 'POST',
      path: '/org/api_keys',
      route: '/org/api_keys',
      status: 201,
      auth_strategy: 'api_key',
    });
    const fault = vi.spyOn(store.auditLog, 'append').mockRejectedValue(new Error('disk full'));
    const refused = await call('POST', '/org/api_keys', { name: 'unaudited' });
    const harmless = await call('POST', '/profiles', {});
    fault.mockRestore();
    expect(refused.statusCode).toBe(500);
    expect(refused.body).not.toContain('hf_live_');
    expect(harmless.statusCode).toBe(201);
  });

  it('includes reads and rejected requests, and is read by page and as an export with the public client', async () => {
    const { app, call } = fixture();
    await call('GET', '/profiles?query=audited');
    await call('GET', '/profiles/prf_audited');
    await call('POST', '/org/api_keys', { name: '' });
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    const { auditLogs } = new Kernel({ apiKey: API_KEY, baseURL: origin, maxRetries: 0 });
    const span = { start: new Date(Date.now() - 3_600_000).toISOString(), end: new Date(Date.now() + 1).toISOString() };

    const read: string[] = [];
    for await (const { method, path, status } of auditLogs.list({ ...span, limit: 2, auth_strategy: 'api_key' }))
      read.push(`${method} ${path} ${status}`);
    expect(read).toEqual(
      expect.arrayContaining(['GET /profiles 200', 'GET /profiles/prf_audited 404', 'POST /org/api_keys 400']),
    );
    const found = await auditLogs.list({ ...span, search: 'prf_audited' });
    expect(found.items).toHaveLength(1);

    const chunks: Uint8Array[] = [];
    const { rows } = await auditLogs.download(
      { ...span, limit: 3, exclude_method: ['DELETE', 'PATCH'] },
      { write: (chunk: Uint8Array) => void chunks.push(chunk) },
    );
    const lines = gunzipSync(Buffer.concat(chunks)).toString().trimEnd().split('\n');
    expect(lines).toHaveLength(rows);
    expect(lines.map((line) => AuditLogEntry.parse(JSON.parse(line)).path)).toContain('/profiles/prf_audited');
  });

  it.each([
    ['start', {}],
    ['start', { start: 'yesterday', end: '2026-03-01T00:00:00Z' }],
    ['end', { start: '2026-03-01T00:00:00Z', end: '2026-03-01T00:00:00Z' }],
    ['end', { start: '2026-03-01T00:00:00Z', end: '2026-03-31T00:00:01Z' }],
    ['limit', { start: '2026-03-01T00:00:00Z', end: '2026-03-02T00:00:00Z', limit: '101' }],
    ['page_token', { start: '2026-03-01T00:00:00Z', end: '2026-03-02T00:00:00Z', page_token: 'x' }],
  ])('refuses a wrong %s', async (field, query) => {
    const { call } = fixture();
    const answer = await call('GET', `/audit-logs?${new URLSearchParams(query)}`);
    expect(answer.statusCode).toBe(400);
    expect(answer.json<{ message: string }>().message).toContain(field);
  });
});
