import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createExportDelivery, testDelivery } from '../../activities/audit-export/delivery.ts';
import { PUBLIC_ONLY } from '../../egress/policy.ts';
import { guardedLookup } from '../../egress/resolve.ts';
import type { ExportTarget } from '../../store/queries/audit-export-destinations.ts';
import { startS3StandIn, type Refusal, type S3StandIn } from './s3-stand-in.ts';

const TARGET: ExportTarget = {
  id: 'aed_1',
  organizationId: 'org_1',
  region: 'eu-central-1',
  bucket: 'audit',
  prefix: '/logs of ünits/holdfast/',
  roleArn: 'arn:aws:iam::999988887777:role/deliver',
  externalId: 'external-1',
  kmsKeyId: null,
};
const FOLDER = 'logs of ünits/holdfast/destination_id=aed_1/org_id=org_1';

let s3: S3StandIn;
beforeAll(async () => {
  s3 = await startS3StandIn();
});
afterAll(() => s3.close());
beforeEach(() => {
  s3.puts.splice(0);
  s3.assumed.splice(0);
});
const deliver = (target: Partial<ExportTarget> = {}, settings = s3.settings) =>
  testDelivery(createExportDelivery(settings, PUBLIC_ONLY), { ...TARGET, ...target });

it('assumes the role with the external id and puts with its credentials, signed', async () => {
  expect(await deliver()).toEqual({ success: true, stage: 'complete' });
  expect(s3.assumed).toMatchObject([
    {
      Action: 'AssumeRole',
      RoleArn: TARGET.roleArn,
      ExternalId: 'external-1',
      RoleSessionName: 'holdfast-aed_1',
      DurationSeconds: '900',
    },
  ]);
  expect(s3.puts.map(({ key }) => key)).toEqual([`${FOLDER}/connection-test`]);
  expect(s3.puts[0]?.headers).not.toHaveProperty('x-amz-server-side-encryption');
});

it('puts an object that arrives a second after it was signed', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const later = () => vi.setSystemTime(Date.now() + 2000);
  subscribe('http.server.request.start', later);
  onTestFinished(() => {
    unsubscribe('http.server.request.start', later);
    vi.useRealTimers();
  });
  expect(await deliver()).toEqual({ success: true, stage: 'complete' });
});

it('encrypts with the KMS key of the destination', async () => {
  await deliver({ kmsKeyId: 'alias/audit', prefix: '' });
  expect(s3.puts[0]).toMatchObject({
    key: 'destination_id=aed_1/org_id=org_1/connection-test',
    headers: {
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': 'alias/audit',
    },
  });
});

it.each<['put' | 'assume', Refusal, RegExp]>([
  ['assume', { status: 403, code: 'AccessDenied' }, /^The role could not be assumed: access is denied/],
  ['assume', { status: 403, code: 'InvalidClientTokenId' }, /: the credentials of this installation/],
  ['put', { status: 403, code: 'AccessDenied' }, /^The object could not be put: access is denied/],
  ['put', { status: 400, code: 'KMS.NotFoundException' }, /: the KMS key cannot be used/],
  ['put', { status: 301, code: 'PermanentRedirect' }, /: the bucket is in another region/],
  ['put', { status: 409, code: 'secret-of-the-role' }, /: the service responded with status 409$/],
])('describes in its own words why %s fails with %j', async (step, refusal, message) => {
  s3.refuse[step].push(refusal, refusal);
  const result = await deliver();
  s3.refuse[step].splice(0);
  expect(result).toEqual({
    success: false,
    stage: step === 'put' ? 'put_object' : 'assume_role',
    error: {
      code: step === 'put' ? 'put_object_failed' : 'assume_role_failed',
      message: expect.stringMatching(message) as string,
    },
  });
  expect(JSON.stringify(result)).not.toMatch(/AKIA|secret|token-of|provider/);
});

it('distinguishes a missing bucket, wrong credentials and an unreachable service', async () => {
  expect((await deliver({ bucket: 'other' })).error?.message).toMatch(/the bucket does not exist$/);
  const wrong = { ...s3.settings, credentials: { accessKeyId: 'AKIASERVICE', secretAccessKey: 'another' } };
  expect((await deliver({}, wrong)).error?.message).toMatch(/the credentials of this installation/);
  const away = { ...s3.settings, stsEndpoint: 'http://127.0.0.1:9' };
  expect((await deliver({}, away)).error?.message).toMatch(/the service cannot be reached$/);
});

it('times out if the store does not respond', async () => {
  const patience = new AbortController();
  s3.refuse.put.push('silence');
  const result = testDelivery(createExportDelivery(s3.settings, PUBLIC_ONLY), TARGET, patience.signal);
  await expect.poll(() => s3.puts.length).toBe(1);
  patience.abort();
  expect(await result).toEqual({
    success: false,
    stage: 'put_object',
    error: { code: 'put_object_failed', message: 'The object could not be put: the request timed out' },
  });
});

it('does not connect to names that resolve to private addresses', async () => {
  const lookUp = (address: string) =>
    new Promise((resolve) => {
      guardedLookup(PUBLIC_ONLY, async () => [{ address, family: 4 }])('sts.x.amazonaws.com', {}, (error, found) =>
        resolve(error?.name ?? found),
      );
    });
  expect(await lookUp('10.0.0.1')).toBe('EgressRefusedError');
  expect(await lookUp('52.94.5.1')).toBe('52.94.5.1');
});
