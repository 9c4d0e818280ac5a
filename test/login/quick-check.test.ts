import { expect, it } from 'vitest';
import type { LoginTarget, QuickCheckInput } from '../../contract/activities.ts';
import type { CheckMethod } from '../../contract/connections.ts';
import type { ConnectionDocument, ConnectionRecord } from '../../contract/document.ts';
import { createQuickCheck, type QuickCheckParts } from '../../activities/login/quick-check.ts';

const CHECK: CheckMethod = { method: 'request', status: 200, address: 'https://a.example/desk', decided_by: 'content' };
const FACTS = { id: 'cred_1', version: 1, valueKeys: ['password'], hasTotpSecret: false, ssoProvider: null };
const TARGET: LoginTarget = {
  ...{ connectionId: 'conn_1', organizationId: 'org_1', projectId: 'prj_1', domain: 'a.example', profileName: 'ann' },
  ...{ loginUrl: null, postLoginUrl: null, allowedDomains: [], browser: null, credentialName: 'saved' },
};
const DOCUMENT: ConnectionDocument = {
  ...{ schema_version: 1, id: 'conn_1', organization_id: 'org_1', project_id: 'prj_1', revision: 8 },
  ...{ created_at: '2026-01-01T00:00:00.000Z', status: 'AUTHENTICATED', post_login_url: null },
  ...{ can_reauth: true, can_reauth_reason: 'has_credential', last_auth_check_at: null, flow: null },
  settings: {
    ...{ domain: 'a.example', profile_name: 'ann', auto_reauth: true, health_check_interval: 3600 },
    ...{ health_checks: true, record_session: false, save_credentials: true },
  },
};
const INPUT: QuickCheckInput = {
  target: TARGET,
  credential: FACTS,
  document: DOCUMENT,
  event: { id: 'evt_1', type: 'health_check', status: 'AUTHENTICATED', timestamp: '2026-01-01T01:00:00.000Z' },
};

function quickCheck(parts: Partial<QuickCheckParts> = {}) {
  const records: ConnectionRecord[] = [];
  const activity = createQuickCheck(
    {
      ask: () => Promise.resolve(CHECK),
      readCredential: () => Promise.resolve({ ...FACTS }),
      record: (record) => Promise.resolve(void records.push(record)),
      readRevision: () => Promise.resolve(DOCUMENT.revision),
      ...parts,
    },
    { answerWithinMs: 20, askedAtOnce: 2 },
  );
  return { records, check: () => activity.checkQuickly(INPUT) };
}

it('records the document and how the check was made', async () => {
  const { check, records } = quickCheck();
  expect(await check()).toEqual({ missed: null, check: CHECK, credential: FACTS, recorded: true });
  expect(records).toEqual([{ document: DOCUMENT, timeline: [{ ...INPUT.event, check: CHECK }] }]);
});

it('leaves it to the workflow what a credential means that has changed', async () => {
  const changed = { ...FACTS, version: 2 };
  const { check, records } = quickCheck({ readCredential: () => Promise.resolve(changed) });
  expect(await check()).toEqual({ missed: null, check: CHECK, credential: changed, recorded: false });
  expect(records).toEqual([]);
});

it('leaves a site that does not clearly say "signed in" to a browser', async () => {
  const { check, records } = quickCheck({ ask: () => Promise.resolve(null) });
  expect(await check()).toEqual({ missed: 'unsure' });
  expect(records).toEqual([]);
});

it('waits for no slow site, asks no more than a few at once, and goes on when those have answered', async () => {
  let isSlow = true;
  const answers: (() => void)[] = [];
  const ask = (): Promise<CheckMethod> =>
    isSlow ? new Promise((resolve) => answers.push(() => resolve(CHECK))) : Promise.resolve(CHECK);
  const { check, records } = quickCheck({ ask });
  expect(await Promise.all([check(), check(), check()])).toEqual([
    { missed: 'late' },
    { missed: 'late' },
    { missed: 'busy' },
  ]);
  expect(answers).toHaveLength(2);
  isSlow = false;
  for (const answer of answers) answer();
  await expect.poll(check).toMatchObject({ missed: null });
  // What came too late is recorded by the check that took its place.
  expect(records).toHaveLength(1);
});
