import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseSettings } from '../../start/settings.ts';

describe('settings', () => {
  test('without variables, the documented defaults apply', () => {
    const settings = parseSettings({});
    expect(settings.ports).toEqual({
      api: 8080,
      sandbox: 8081,
      browser: 8082,
      temporal: 8084,
      temporalUi: 8085,
      codec: 8086,
    });
    expect(settings.publicUrl).toBe('http://localhost:8080');
    expect(settings.plan).toBe('enterprise');
    expect(settings.sandbox).toBe(true);
    expect([settings.allowUnsandboxedProcesses, settings.processNetwork]).toEqual([false, false]);
    expect(settings.dataDir).toMatch(/\/\.holdfast$/);
    expect(settings.externalTemporal).toBeUndefined();
    expect([settings.timelineDays, settings.auditDays, settings.recordingDays, settings.telemetryDays]).toEqual([
      90, 365, 7, 7,
    ]);
  });

  test('retention periods are configurable', () => {
    expect(parseSettings({ HOLDFAST_TELEMETRY_DAYS: '2' }).telemetryDays).toBe(2);
    expect(() => parseSettings({ HOLDFAST_TELEMETRY_DAYS: '0' })).toThrow('HOLDFAST_TELEMETRY_DAYS');
  });

  test('processes leave their sandbox only on explicit request', () => {
    const named = { BROWSER_ALLOW_UNSANDBOXED_PROCESSES: 'on', BROWSER_ALLOW_PROCESS_NETWORK: 'on' };
    const settings = parseSettings(named);
    expect([settings.allowUnsandboxedProcesses, settings.processNetwork]).toEqual([true, true]);
  });

  test('process limits are configurable, with defaults', () => {
    expect(parseSettings({}).processLimits).toEqual({});
    const named = { BROWSER_PROCESS_MEMORY_MB: '512', BROWSER_PROCESS_COUNT: '100', BROWSER_PROCESS_NICE: '0' };
    expect(parseSettings({ ...named, BROWSER_PROCESS_FILE_MB: '1' }).processLimits).toEqual({
      memoryBytes: 512 * 1024 * 1024,
      processes: 100,
      fileBytes: 1024 * 1024,
      niceness: 0,
    });
  });

  test('an empty variable counts as unset', () => {
    expect(parseSettings({ HOLDFAST_PORT: '', DATABASE_URL: '', TEMPORAL_ADDRESS: '' }).ports.api).toBe(8080);
  });

  test('the trailing slash of the public URL is removed', () => {
    expect(parseSettings({ HOLDFAST_PUBLIC_URL: 'https://auth.example.com/' }).publicUrl).toBe(
      'https://auth.example.com',
    );
  });

  test('a master key is accepted in base64 and hex', () => {
    const key = randomBytes(32);
    expect(parseSettings({ HOLDFAST_MASTER_KEY: key.toString('base64') }).masterKeys).toEqual([key]);
    expect(parseSettings({ HOLDFAST_MASTER_KEY: key.toString('hex') }).masterKeys).toEqual([key]);
  });

  test.each([
    ['HOLDFAST_PORT', 'eighty'],
    ['HOLDFAST_PORT', '0'],
    ['HOLDFAST_PORT', '65531'],
    ['HOLDFAST_HOST', 'my-host'],
    ['HOLDFAST_PUBLIC_URL', 'ftp://example.com'],
    ['HOLDFAST_API_KEY', 'short'],
    ['HOLDFAST_API_KEY', 'has a space in it, and is long'],
    ['HOLDFAST_PLAN', 'gold'],
    ['HOLDFAST_MASTER_KEY', 'c2hvcnQ='],
    ['HOLDFAST_ALLOW_PRIVATE_HOSTS', 'http://intranet/'],
    ['HOLDFAST_SANDBOX', 'yes'],
    ['DATABASE_URL', 'mysql://localhost/db'],
    ['BROWSER_BASE_URL', 'localhost:9000'],
    ['BROWSER_ALLOW_UNSANDBOXED_PROCESSES', 'true'],
    ['BROWSER_ALLOW_PROCESS_NETWORK', '1'],
    ['BROWSER_PROCESS_MEMORY_MB', '4GB'],
    ['BROWSER_PROCESS_COUNT', '0'],
    ['BROWSER_PROCESS_FILE_MB', '-1'],
    ['BROWSER_PROCESS_NICE', '20'],
    ['TEMPORAL_ADDRESS', 'a b'],
    ['HOLDFAST_TRUST_PROXY', '10.0.0.0/8,everyone'],
    ['HOLDFAST_ALLOWED_ORIGINS', 'https://app.example.com/path'],
    ['HOLDFAST_ALLOWED_ORIGINS', '*'],
    ['HOLDFAST_CAPTCHA_URL', 'solver:8088'],
    ['HOLDFAST_EXPORT_S3_ENDPOINT', 'minio:9000'],
    ['HOLDFAST_EXPORT_SERVICE_ROLE_ARN', 'role/holdfast'],
    ['TEMPORAL_DEPLOYMENT_NAME', 'a/b'],
    ['TEMPORAL_WORKER_BUILD_ID', 'build 7'],
  ])('%s=%s is refused by name', (name, value) => {
    expect(() => parseSettings({ [name]: value })).toThrow(new RegExp(`^Invalid configuration: ${name} must `));
  });

  test('all invalid variables are named at once, without their values', () => {
    const secret = 'not-long-enough';
    const attempt = () => parseSettings({ HOLDFAST_API_KEY: secret, HOLDFAST_PLAN: 'gold', HOLDFAST_SANDBOX: 'maybe' });
    expect(attempt).toThrow(/HOLDFAST_API_KEY .*HOLDFAST_PLAN .*HOLDFAST_SANDBOX /);
    expect(attempt).not.toThrow(new RegExp(`${secret}|gold|maybe`));
  });

  test('a worker version requires both its parts', () => {
    expect(() => parseSettings({ TEMPORAL_DEPLOYMENT_NAME: 'logins' })).toThrow(/TEMPORAL_WORKER_BUILD_ID must be set/);
    expect(() => parseSettings({ TEMPORAL_WORKER_BUILD_ID: '7' })).toThrow(/TEMPORAL_DEPLOYMENT_NAME must be set/);
    const both = parseSettings({ TEMPORAL_DEPLOYMENT_NAME: 'logins', TEMPORAL_WORKER_BUILD_ID: '1.2.3' });
    expect(both.workerVersion).toEqual({ deploymentName: 'logins', buildId: '1.2.3' });
    expect(both.externalTemporal).toBeUndefined();
  });

  test('a captcha solver is used only if configured, with or without a key', () => {
    expect(parseSettings({}).captchaSolver).toBeUndefined();
    const url = 'http://10.0.0.7:8088/api/';
    const named = { url: 'http://10.0.0.7:8088/api', key: undefined };
    expect(parseSettings({ HOLDFAST_CAPTCHA_URL: url }).captchaSolver).toEqual(named);
    const withKey = parseSettings({ HOLDFAST_CAPTCHA_URL: url, HOLDFAST_CAPTCHA_KEY: 'k-1' });
    expect(withKey.captchaSolver).toEqual({ ...named, key: 'k-1' });
    expect(() => parseSettings({ HOLDFAST_CAPTCHA_KEY: 'k-1' })).toThrow(/HOLDFAST_CAPTCHA_URL must be set/);
  });

  test('exports use a two-part access key, else the default AWS credentials', () => {
    expect(parseSettings({}).exportStore).toEqual({});
    const given = { HOLDFAST_EXPORT_ACCESS_KEY_ID: 'AKIA', HOLDFAST_EXPORT_SECRET_ACCESS_KEY: 's' };
    expect(parseSettings(given).exportStore).toEqual({ credentials: { accessKeyId: 'AKIA', secretAccessKey: 's' } });
    expect(() => parseSettings({ HOLDFAST_EXPORT_ACCESS_KEY_ID: 'AKIA' })).toThrow(
      /HOLDFAST_EXPORT_SECRET_ACCESS_KEY must be set/,
    );
  });

  test('reverse proxies are trusted by address or range', () => {
    expect(parseSettings({ HOLDFAST_TRUST_PROXY: '127.0.0.1, 10.0.0.0/8,::1' }).trustProxy).toBe(
      '127.0.0.1, 10.0.0.0/8,::1',
    );
  });

  test('allowed origins are a list', () => {
    expect(parseSettings({}).allowedOrigins).toEqual([]);
    const read = parseSettings({ HOLDFAST_ALLOWED_ORIGINS: 'https://app.example.com, http://localhost:3000' });
    expect(read.allowedOrigins).toEqual(['https://app.example.com', 'http://localhost:3000']);
  });

  test("Temporal's own variables select an external server", () => {
    const settings = parseSettings({ TEMPORAL_ADDRESS: 'temporal:7233', TEMPORAL_NAMESPACE: 'logins' });
    expect(settings.externalTemporal?.connectionOptions.address).toBe('temporal:7233');
    expect(settings.externalTemporal?.namespace).toBe('logins');
  });
});
