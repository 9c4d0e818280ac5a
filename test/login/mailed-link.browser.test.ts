import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import type { LoginDeps } from '../../activities/login/deps.ts';
import { openMailedLink } from '../../activities/login/open-mailed-link.ts';
import { createPages } from '../../activities/login/session/pages.ts';
import { createBrowserService } from '../../browser-client/service.ts';
import { MAILED_LINK } from '../../contract/answer-check.ts';
import { createExternalCredentials } from '../../credential-providers/external-credentials.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import { startSandbox } from '../../sandbox/site.ts';
import { API_KEY } from '../browser/service-under-test.ts';
import { it } from '../browser/shared-service.ts';
import { createPractice, type Practice } from '../e2e/practice.ts';
import { addConnection, useStore } from '../store/databases.ts';
import { loginTarget } from './login-fixtures.ts';

const PROJECT = { headers: { 'x-kernel-project-id': 'p' } };

const storeOf = useStore();
const closing: (() => unknown)[] = [];
let deps: LoginDeps;
let practice: Practice;
let sessionId: string;
it.beforeAll(async ({ service: { handle, kernel } }) => {
  const folder = mkdtempSync(join(tmpdir(), 'hf-link-'));
  const sandbox = await startSandbox({ port: 0, stateFile: join(folder, 'sandbox.json') });
  practice = createPractice(sandbox.url);
  const service = createBrowserService({ baseUrl: handle.url, apiKey: API_KEY });
  const pages = createPages(service);
  const egress = createEgressPolicy(practice.domain);
  const { store } = storeOf();
  const providers = store.credentialProviders;
  deps = { store, service, pages, egress, externalCredentials: createExternalCredentials({ providers, egress }) };
  ({ session_id: sessionId } = await kernel.browsers.create({ timeout_seconds: 300 }, PROJECT));
  closing.push(
    () => rm(folder, { recursive: true }),
    () => sandbox.close(),
    () => service.close(),
    () => kernel.browsers.deleteByID(sessionId, PROJECT),
    () => pages.close(),
  );
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

it.for([
  ['there', 'none'],
  ['there', 'button'],
  ['here', 'none'],
  ['here', 'button'],
] as const)('a mailed link that signs in %s, behind a press of its page: %s', async ([opens, press]) => {
  await practice.setMailedLink(opens, press);
  const waiting = await deps.pages.of('p', sessionId);
  await waiting.context().clearCookies();
  await waiting.goto(practice.page('/login/magic-link'));
  await waiting.fill('#email', practice.user('frank').email);
  await waiting.click('button');
  await waiting.waitForURL('**/wait');
  const link = (await practice.mailedLink('frank')) ?? '';
  const connectionId = await addConnection(deps.store);
  const { submissionId } = await deps.store.submissions.seal({
    connectionId,
    interactionId: 'int',
    values: { [MAILED_LINK]: link },
    expiresAt: new Date(Date.now() + 60_000),
  });
  const input = {
    ...{ target: loginTarget({ domain: practice.domain, connectionId }), flowId: `flow_${connectionId}` },
    ...{ sessionId, entryId: 'int', submissionId, from: 'external_action' as const },
  };
  const { signal } = new AbortController();
  expect(await openMailedLink(deps, input, signal)).toMatchObject({ kind: 'logged_in' });
  // Once: it is gone, and what came of it is in the page.
  expect(await deps.store.submissions.open(submissionId)).toBeNull();
  await expect(openMailedLink(deps, input, signal)).rejects.toMatchObject({ type: 'submission_gone' });
  for (const page of waiting.context().pages().slice(1)) await page.close();
});
